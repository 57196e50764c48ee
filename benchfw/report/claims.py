"""The words for decided claims: what was found beside what was claimed, and what would decide the rest."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.analysis.claims import Decided, DecidedPart, Share, Standing
from benchfw.claims import Claim
from benchfw.report.text import interval_text, plural, ratio_text
from benchfw.summary.claims.reader import ClaimResult

MARKS = {
    Standing.HOLDS: "✓",
    Standing.REFUTED: "✗",
    Standing.UNDECIDED: "?",
    Standing.NOT_TESTABLE: "–",
}
"""One character for each standing, beside its word, never instead of it."""

RULE = (
    "Claims were written down before the run. Each is decided by an interval that lies inside what is "
    "claimed (holds), outside of it (refuted), or across its end (undecided); the chance that any of these "
    "decisions is false is at most 5 %"
)


@dataclass(frozen=True)
class ClaimText:
    """A claim as every report shows it: its standing, its sentence and source, what was found, and notes."""

    standing: Standing
    says: str
    source: str
    found: str
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the claim and what was found, as one paragraph without the standing."""
        where = f" ({self.source})" if self.source else ""
        return f"{self.says.rstrip('.')}{where}: {'; '.join([self.found, *self.notes])}."


def describe_claims(results: Sequence[ClaimResult]) -> list[ClaimText]:
    """Return the words for each claim, in the order of the suite."""
    return [
        ClaimText(
            each.decided.standing, each.claim.says, each.claim.source, _found(each), tuple(_notes(each))
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
    """Return '2 claims hold, 1 is refuted, 1 is undecided'; nothing where there is no claim."""
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


def _found(result: ClaimResult) -> str:
    decided, claim = result.decided, result.claim
    if decided.standing is Standing.NOT_TESTABLE:
        return decided.reason
    shown = closest_part(decided)
    said = _describe_part(claim, shown)
    if len(decided.parts) == 1:
        return said
    count, name = len(decided.parts), shown.part.name
    if decided.standing is Standing.HOLDS:
        return f"in all {count} cases; closest, {name}: {said}"
    return f"in {len(_deciding_parts(decided))} of {count} cases, as {name}: {said}"


def closest_part(decided: Decided) -> DecidedPart:
    """Return, of the parts that decided a claim, the one nearest to the end of what is claimed."""
    return min(_deciding_parts(decided), key=_room)


def _deciding_parts(decided: Decided) -> list[DecidedPart]:
    parts = [each for each in decided.parts if each.interval is not None]
    holds = decided.standing is Standing.HOLDS
    return parts if holds else [each for each in parts if each.standing is decided.standing]


def _room(part: DecidedPart) -> float:
    """Return how far an interval is from the nearest end of what is claimed, on a scale of ratios."""
    found, inside = part.interval, part.part.inside
    if found is None:
        return math.inf
    if part.part.denied:
        return max(found.low, -found.high)
    rooms = [_apart(inside.high, found.high), _apart(found.low, inside.low)]
    return min(rooms)


def _apart(high: float, low: float) -> float:
    if high > 0 and low > 0:
        return math.inf if math.isinf(high) else math.log(high / low)
    return high - low


def _describe_part(claim: Claim, part: DecidedPart) -> str:
    """Return the number that was found, what it is, and what was claimed of it."""
    found, estimate = part.interval, part.part.estimate
    if found is None:
        return part.part.reason
    if isinstance(estimate, Share):
        return _describe_share(claim, part, estimate)
    value, times = interval_text(found), ratio_text(found)
    said = {
        "ratio": f"{times} times the {claim.quantity} of {claim.than}",
        "difference": f"{claim.quantity} of {claim.than} and {value} more",
        "value": f"{claim.quantity} {value}",
        "order": f"{claim.quantity} {times}",
        "bound": f"the mean of the runs is at most {times} of the bound, {part.part.note}",
        "rate": f"an iteration brings a factor of {value}"
        if claim.law == "linear"
        else f"iterations^{value}",
        "unbiased": f"a bias of {value} standard deviations of a draw",
    }
    return f"{said[claim.test]}; claimed: {'not 0' if part.part.denied else part.part.inside}"


def _describe_share(claim: Claim, part: DecidedPart, share: Share) -> str:
    """Return in how many runs the target was reached, or the theorem's bound kept."""
    if claim.test == "bound":
        return f"{part.part.note}, in {plural(share.runs, 'run')}"
    who = claim.methods[0] if len(claim.methods) == 1 else "it"
    return f"{who} reaches the target in {share.some} of {plural(share.runs, 'run')}"


def _notes(result: ClaimResult) -> list[str]:
    decided, notes = result.decided, []
    if decided.standing is Standing.UNDECIDED:
        now = max((each.part.estimate.count for each in decided.parts if each.part.estimate), default=0)
        if decided.needed is None:
            notes.append("no number of repetitions can be named that would decide it")
        else:
            notes.append(
                f"about {max(decided.needed, now + 1)} repetitions would decide it, of which {now} ran"
            )
    if result.early:
        which = "all" if result.early == result.trials else f"{result.early} of {result.trials}"
        notes.append(f"written after {which} of its trials had run")
    return notes
