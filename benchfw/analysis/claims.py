"""Decides claims: a number's interval lies inside the range that is claimed, outside of it, or across an end.

All claims of a report share one error budget (Holm 1979). docs/statistics.md has the rule and its measured
error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count

from benchfw.analysis.estimates import SHARES, Estimate, Share, fewest_runs, lies_inside, lies_outside
from benchfw.analysis.intervals import Interval
from benchfw.analysis.significance import BUDGET, FEWEST_PAIRS
from benchfw.claims import NO_SUBJECT, Claim, Range, Subject


class Standing(StrEnum):
    """What a run says about a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"


DECISIONS = frozenset({Standing.HOLDS, Standing.REFUTED})


@dataclass(frozen=True, eq=False)
class Part:
    """One number of a claim: what it is a number of, and where it must lie for the claim to hold.

    `disproof` is where it must not lie outside of, if that is another range: a bias is shown to be small, or
    not to be 0. `denied` claims the opposite, that it lies outside of `disproof`, and being `inside` refutes
    it. Without an estimate, `reason` says why there is none.
    """

    name: str
    inside: Range
    estimate: Estimate | None = None
    disproof: Range | None = None
    denied: bool = False
    reason: str = ""
    subject: Subject = NO_SUBJECT

    @property
    def possible(self) -> Range:
        """Return where the number may lie without refuting the claim."""
        return self.inside if self.disproof is None else self.disproof


@dataclass(frozen=True, eq=False)
class DecidedPart:
    """A part, what is decided about it, and the interval that decided."""

    part: Part
    standing: Standing
    interval: Interval | None = None
    level: float = math.nan


@dataclass(frozen=True, eq=False)
class Decided:
    """What is decided about a claim as a whole; `level` is the error that it was allowed.

    It holds if all of its parts do, and is refuted if one is. `needed` runs would probably decide it.
    """

    standing: Standing
    parts: tuple[DecidedPart, ...] = ()
    level: float = math.nan
    needed: int | None = None
    reason: str = ""


def decide_claims(claims: Sequence[Sequence[Part]], budget: float = BUDGET) -> list[Decided]:
    """Return the decision on each claim; those that can be tested share the budget, step by step.

    Of 'it holds' and 'it is refuted' one is wrong, so that a claim costs its share of the budget once. As
    long as some claim is decided at its share, the others share anew (Holm 1979; for decisions to either
    side Shaffer 1980). One of which a part could not be tested might have been refuted, and keeps its share.
    """
    found: list[Decided | None] = [_refuse(parts) for parts in claims]
    while waiting := [number for number, each in enumerate(found) if each is None]:
        allowed = budget / len(waiting)
        decided = {number: _decide(claims[number], allowed) for number in waiting}
        settled = {n: each for n, each in decided.items() if each.standing in DECISIONS}
        for number, each in (settled or decided).items():
            found[number] = each
    return [each for each in found if each is not None]


def _refuse(parts: Sequence[Part]) -> Decided | None:
    """Return that a claim is not testable; None where some part of it is."""
    if any(map(_is_testable, parts)):
        return None
    return Decided(Standing.NOT_TESTABLE, tuple(map(_refuse_part, parts)), reason=_reason(parts))


def _reason(parts: Sequence[Part]) -> str:
    for part in parts:
        if not _is_testable(part):
            reason = part.reason
            if part.estimate is not None:
                runs = "1 run decides" if part.estimate.count == 1 else f"{part.estimate.count} runs decide"
                reason = f"{runs} nothing; at least {FEWEST_PAIRS} are needed"
            return f"{part.name}: {reason}" if part.name and len(parts) > 1 else reason
    return "nothing was measured"


def _is_testable(part: Part) -> bool:
    return part.estimate is not None and part.estimate.testable


def _refuse_part(part: Part) -> DecidedPart:
    return DecidedPart(part, Standing.NOT_TESTABLE)


def _decide(parts: Sequence[Part], allowed: float) -> Decided:
    tested = sum(map(_is_testable, parts))
    decided = tuple(
        _decide_part(part, part.estimate, allowed, tested)
        if part.estimate is not None and part.estimate.testable
        else _refuse_part(part)
        for part in parts
    )
    standings = {each.standing for each in decided}
    if Standing.REFUTED in standings:
        return Decided(Standing.REFUTED, decided, allowed)
    if Standing.NOT_TESTABLE in standings:
        return Decided(Standing.NOT_TESTABLE, decided, allowed, reason=_reason(parts))
    if standings == {Standing.HOLDS}:
        return Decided(Standing.HOLDS, decided, allowed)
    plans = [
        each.part.estimate.plan(each.part.possible if each.part.denied else each.part.inside, 1 - 2 * allowed)
        for each in decided
        if each.standing is Standing.UNDECIDED and each.part.estimate is not None
    ]
    known = [each for each in plans if each is not None]
    needed = max(known) if len(known) == len(plans) else None
    return Decided(Standing.UNDECIDED, decided, allowed, needed)


def _decide_part(part: Part, estimate: Estimate, allowed: float, parts: int) -> DecidedPart:
    """Return the decision on one of so many parts of a claim.

    To hold, all parts must: each may use the whole allowance (Berger 1982). One refutes the claim, and for
    that they share it. The interval is two-sided and one side decides, so that it leaves out twice as much.
    """
    level, strict = 1 - 2 * allowed, 1 - 2 * allowed / parts
    if part.denied:
        return _decide_denied(part, estimate, 1 - allowed, strict)
    if part.possible.two_ended or part.possible.low == part.possible.high:  # either side may refute it
        strict = 1 - allowed / parts
    found, careful = estimate.interval(level), estimate.interval(strict)
    if estimate.refutes:
        return DecidedPart(part, Standing.REFUTED, found, level)
    if not _is_claimed_of_every_run(estimate) and lies_outside(careful, part.possible):
        return DecidedPart(part, Standing.REFUTED, careful, strict)
    if lies_inside(found, part.inside, estimate.possible) and not _is_open(estimate):
        return DecidedPart(part, Standing.HOLDS, found, level)
    if lies_outside(found, part.possible):  # but not at the level that would refute it
        return DecidedPart(part, Standing.UNDECIDED, careful, strict)
    return DecidedPart(part, Standing.UNDECIDED, found, level)


def find_fewest_runs(claims: Sequence[Claim]) -> list[int]:
    """Return for each claim the fewest runs that can decide it, if all of them can be tested.

    At best the claims that need other evidence than runs are decided first, and leave their shares of the
    budget to the others.
    """
    sharing = sum(not each.pooled and not each.one_run_refutes for each in claims)
    level = 1 - 2 * BUDGET / max(sharing, 1)
    return [_find_fewest_runs(each, level) for each in claims]


def _find_fewest_runs(claim: Claim, level: float) -> int:
    if claim.one_run_refutes:
        return 1
    if claim.pooled:
        return FEWEST_PAIRS
    if claim.test != "reaches":
        return fewest_runs(level)
    return next(runs for runs in count(1) if _may_decide_share(claim.inside, runs, level))


def _may_decide_share(inside: Range, runs: int, level: float) -> bool:
    """Return whether a share is decided where all runs do something, or none does."""
    extremes = [Share(some, runs).interval(level) for some in (0, runs)]
    return any(lies_inside(each, inside, SHARES) or lies_outside(each, inside) for each in extremes)


def _decide_denied(part: Part, estimate: Estimate, level: float, strict: float) -> DecidedPart:
    """Return the decision on a number that is claimed not to be 0: either side of it will do."""
    found, careful = estimate.interval(level), estimate.interval(strict)
    if lies_outside(found, part.possible):
        return DecidedPart(part, Standing.HOLDS, found, level)
    if lies_inside(careful, part.inside, estimate.possible):
        return DecidedPart(part, Standing.REFUTED, careful, strict)
    return DecidedPart(part, Standing.UNDECIDED, found, level)


def _is_claimed_of_every_run(estimate: Estimate) -> bool:
    return isinstance(estimate, Share) and estimate.every


def _is_open(estimate: Estimate) -> bool:
    """Return whether something is claimed of every run that is not known of some."""
    return isinstance(estimate, Share) and estimate.every and estimate.unsure > 0
