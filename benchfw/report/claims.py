"""The words for decided claims: what was found beside what was claimed, and what would decide the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.analysis.claims import Decided, DecidedPart, Standing
from benchfw.analysis.estimates import Runs, Share, fewest_runs
from benchfw.claims import Claim, Subject
from benchfw.report.claim_numbers import describe_as_measured, describe_number, describe_range
from benchfw.report.text import figures, join_names, plural
from benchfw.summary.claims.reader import ClaimResult

MARKS = {
    Standing.HOLDS: "✓",
    Standing.REFUTED: "✗",
    Standing.UNDECIDED: "?",
    Standing.NOT_TESTABLE: "–",
}
"""One character for each standing, beside its word, never instead of it."""

RULE = (
    "A claim holds if the interval of its number lies inside the range that is claimed, is refuted if it "
    "lies outside, and is undecided if it does neither. The chance that any of these decisions is false is "
    "at most 5 %, for all claims of the report together (docs/statistics.md)."
)

NOT_REGISTERED = "not pre-registered"

_EXTREMES = {
    Standing.HOLDS: "closest",
    Standing.REFUTED: "most clearly",
    Standing.UNDECIDED: "least clearly",
}
"""Which of several numbers is shown."""


@dataclass(frozen=True)
class ClaimText:
    """A claim as every report shows it: its sentence and source, what was found, what was claimed.

    `notes` say what would decide it, `warnings` why its standing is worth less than it looks.
    """

    standing: Standing
    says: str
    source: str
    found: str
    claimed: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the standing in words, with what must not be overlooked."""
        return f"{self.standing}, {NOT_REGISTERED}" if self.warnings else str(self.standing)

    @property
    def title(self) -> str:
        """Return the claim with its source."""
        return f"{self.says.rstrip('.')} ({self.source})" if self.source else self.says.rstrip(".")

    @property
    def details(self) -> str:
        """Return what was found and claimed, with notes and warnings, as one paragraph."""
        claimed = f"claimed: {self.claimed}" if self.claimed else ""
        return f"{'; '.join(filter(None, [self.found, claimed, *self.notes, *self.warnings]))}."


def describe_claims(results: Sequence[ClaimResult]) -> list[ClaimText]:
    """Return the words for each claim, in the order of the suite."""
    return [
        ClaimText(
            each.decided.standing,
            each.claim.says,
            each.claim.source,
            _describe_found(each),
            describe_range(each.claim, each.decided, each.units),
            (*_find_notes(each), *_find_failures(each), *_find_raised(each)),
            tuple(_find_warnings(each)),
        )
        for each in results
    ]


def describe_test(claim: Claim) -> str:
    """Return what decides a claim: 'ratio of cost to target, nesterov to gd: below 1'."""
    if claim.test == "untestable":
        return f"not testable: {claim.reason}"
    who, inside = ", ".join(claim.methods), claim.inside
    metric = f" in {claim.metric}" if claim.metric else ""
    rate = "factor an iteration" if claim.law == "linear" else "power of the iterations"
    mean = "" if claim.every else " in the mean"
    share = "" if claim.every else f" in a share of the runs {inside}"
    said = {
        "ratio": f"ratio of {claim.quantity}, {who} to {claim.than}: {inside}",
        "difference": f"difference in {claim.quantity}, {who} less {claim.than}: {inside}",
        "value": f"{claim.quantity} of {who}: {inside}",
        "order": f"order in {claim.quantity}, the best first: {who}",
        "bound": f"{who}: at most the bound of its theorem{metric}{mean}",
        "rate": f"{rate} of {who}{metric}: {inside}",
        "unbiased": f"bias of {who}: {'' if claim.unbiased else 'not '}"
        f"0 within {claim.margin:g} standard deviations of a draw",
        "reaches": f"{who} {'never ' * (inside.low <= 0 and claim.every)}reaches the target{share}",
    }[claim.test]
    where = f" on {', '.join(claim.problems)}" if claim.problems else ""
    return f"{said}{where}{', in the mean over problems' if claim.across else ''}"


def count_claims(results: Sequence[ClaimResult]) -> str:
    """Return '4 claims: 2 hold, 1 is refuted, 1 is undecided'; nothing if there are no claims."""
    counts = Counter(each.decided.standing for each in results)
    words = {
        Standing.HOLDS: ("holds", "hold"),
        Standing.REFUTED: ("is refuted", "are refuted"),
        Standing.UNDECIDED: ("is undecided", "are undecided"),
        Standing.NOT_TESTABLE: ("is not testable", "are not testable"),
    }
    said = [f"{counts[each]} {one if counts[each] == 1 else some}" for each, (one, some) in words.items()
            if counts[each]]  # fmt: skip
    return f"{plural(len(results), 'claim')}: {', '.join(said)}" if said else ""


def warn_of_claims(results: Sequence[ClaimResult]) -> list[str]:
    """Return what a reader must know of all claims before reading one."""
    warnings = []
    late = sum(bool(_find_warnings(each)) for each in results)
    if late:
        which, them = ("1 of these claims is", "it") if late == 1 else (f"{late} of these claims are", "them")
        warnings.append(f"{which} {NOT_REGISTERED}: written after trials that decide {them} had run")
    if any(each.quick and each.decided.standing is not Standing.NOT_TESTABLE for each in results):
        warnings.append("this run was quick: its claims are decided at the size of --quick")
    return warnings


def _describe_found(result: ClaimResult) -> str:
    """Return the number that was found; of several, the one that says most, and where that is."""
    if result.decided.standing is Standing.NOT_TESTABLE:
        return result.decided.reason
    problems = {each.part.subject.problem for each in result.decided.parts}
    # the report may have others, which the claim is not about
    where = f"on {problems.pop()}, " if result.claim.problems and len(problems) == 1 else ""
    return f"{where}{_describe_parts(result)}"


def _describe_parts(result: ClaimResult) -> str:
    claim, decided = result.claim, result.decided
    every = [each for each in decided.parts if each.part.subject.methods]
    parts = [each for each in every if each.standing is decided.standing]
    shown = closest_part(decided)
    said = describe_number(claim, shown, result.units)
    if len(every) == 1:
        return said
    noun, preposition = _find_noun(claim, [each.part.subject for each in every])
    several_cases = noun == "case" and len(parts) > 1  # their names have commas
    names = [] if several_cases else [_name_part(noun, each) for each in parts]
    if len(parts) == len(every):
        which = f"both {noun}s" if len(every) == 2 else f"all {len(every)} {noun}s"
    else:
        which = f"{f'{join_names(names)}, ' if any(names) else ''}{len(parts)} of {len(every)} {noun}s"
    example = ""
    if len({_room(each) for each in parts}) > 1:
        where = "" if noun in ("method", "pair") else f" {preposition} {_name_part(noun, shown)}"
        example = f"; {_EXTREMES[decided.standing]}{where}"  # a number's sentence names the methods
    return f"{preposition} {which}{example}: {said}"


def closest_part(decided: Decided) -> DecidedPart:
    """Return, of the parts that decided a claim, the one nearest to the end of what is claimed.

    Of those that refute it, the one furthest beyond.
    """
    parts = [each for each in decided.parts if each.standing is decided.standing]
    return min(parts, key=_depth if decided.standing is Standing.REFUTED else _room)


def _find_noun(claim: Claim, subjects: Sequence[Subject]) -> tuple[str, str]:
    """Return in what the parts of a claim differ, and the preposition that goes with it."""
    values: dict[tuple[str, str], set[str] | set[tuple[str, ...]]] = {
        ("problem", "on"): {each.problem for each in subjects},
        ("backend", "on"): {each.backend for each in subjects},
        ("pair" if claim.test == "order" else "method", "for"): {each.methods for each in subjects},
    }
    differ = [words for words, found in values.items() if len(found) > 1]
    return differ[0] if len(differ) == 1 else ("case", "in")


def _name_part(noun: str, part: DecidedPart) -> str:
    subject = part.part.subject
    names = {"problem": subject.problem, "backend": subject.backend, "method": subject.methods[0], "pair": ""}
    return names.get(noun, part.part.name)


def _room(part: DecidedPart) -> float:
    """Return how far an interval is from the nearest end of what is claimed.

    On a scale of ratios, unless the range is on both sides of 0.
    """
    found, inside, looks = part.interval, part.part.inside, part.part.subject.looks
    if found is None:
        return math.inf
    if part.part.denied:
        return max(found.low, -found.high)
    if looks is not None and isinstance(part.part.estimate, Share):
        return -looks.largest
    if inside.two_ended and inside.low < 0 < inside.high:
        return min(inside.high - found.high, found.low - inside.low)
    above = math.inf if math.isinf(inside.high) else _distance(inside.high, found.high)
    return min(above, math.inf if math.isinf(inside.low) else _distance(found.low, inside.low))


def _depth(part: DecidedPart) -> float:
    """Return how far an interval is beyond what is claimed, below 0: its near end counts."""
    found, inside = part.interval, part.part.possible
    if found is None or part.part.denied or part.part.subject.looks is not None:
        return _room(part)
    below = _distance(found.high, inside.low) if math.isfinite(inside.low) else math.inf
    return min(below, _distance(inside.high, found.low) if math.isfinite(inside.high) else math.inf)


def _distance(high: float, low: float) -> float:
    if math.isinf(high) or math.isinf(low):
        return -math.inf if high < low else math.inf
    return math.log(high / low) if high > 0 and low > 0 else high - low


def _find_notes(result: ClaimResult) -> list[str]:
    decided = result.decided
    if decided.standing is not Standing.UNDECIDED:
        return []
    ran = min(
        each.part.estimate.count
        for each in decided.parts
        if each.standing is Standing.UNDECIDED and each.part.estimate is not None
    )
    shown = closest_part(decided)
    if isinstance(shown.part.estimate, Share) and shown.part.estimate.unsure:
        late = plural(shown.part.estimate.unsure, "run")
        return [f"{late} ran out of time on a busy machine, and may reach the target on a quiet one"]
    fewest = fewest_runs(shown.level)
    few = isinstance(shown.part.estimate, Runs) and ran < fewest
    end = "to refute it" if shown.level > 1 - 2 * decided.level else "for an interval"
    notes = [f"{plural(ran, 'run')} are too few {end}, at least {fewest} are needed"] if few else []
    measured = describe_as_measured(result.claim, shown)
    if decided.needed is not None:
        needed = math.ceil(float(figures(max(decided.needed, ran + 1), 2, 1)))
        notes.append(f"about {needed} repetitions would decide it, {ran} ran (--repetitions {needed})")
    elif measured:
        notes.append(
            f"{plural(ran, 'repetition')} ran; without what is added for the time between looks or for a "
            f"busy machine, it would be {measured}"
        )
    elif not few:
        notes.append(f"{plural(ran, 'repetition')} ran, and how many would decide it cannot be said")
    return notes


def _find_failures(result: ClaimResult) -> list[str]:
    """Return how many trials failed: a method whose program breaks counts as one that never arrives."""
    if not result.failed or result.decided.standing is Standing.NOT_TESTABLE:
        return []
    if result.failed < result.trials:
        return [f"{result.failed} of its {result.trials} trials failed"]
    return ["its one trial failed" if result.trials == 1 else f"all {result.trials} of its trials failed"]


def _find_raised(result: ClaimResult) -> list[str]:
    """Return in how many trials the metric of the claim got better although the objective did not."""
    if result.decided.standing is Standing.NOT_TESTABLE:
        return []
    total = plural(result.trials, "trial")
    return [
        f"in {'all' if number == result.trials else number} of its {total} {raised}"
        for raised, number in result.raised.items()
    ]


def _find_warnings(result: ClaimResult) -> list[str]:
    if not result.early or result.decided.standing is Standing.NOT_TESTABLE:
        return []
    if result.early < result.trials:
        which = f"{result.early} of its {result.trials} trials"
    else:
        which = "its one trial" if result.trials == 1 else f"all {result.trials} of its trials"
    return [f"{NOT_REGISTERED}: it was written after {which} had run"]
