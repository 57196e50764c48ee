"""Judges whether a trial with finite numbers diverged: its leading metric rose far above its start."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from benchfw.measure.endings import Caveats
from benchfw.records import GAP, Ending, Outcome, Record, Status, change

BLOWN_UP = 10.0
"""Times its start above which a metric has blown up."""
RISEN = 2.0
"""Times its start above which a caveat says so; healthy stochastic runs were seen to peak at 1.3."""


def judge_divergence(
    outcome: Outcome,
    taken: Sequence[Record],
    limits: Mapping[str, float],
    gains: Collection[str],
    counted_in: str = "iteration",
) -> tuple[Outcome, Caveats]:
    """Return the outcome, as diverged if the trial is done and blew up, and a caveat if the metric only rose.

    It blew up if the leading metric is above 10 times its start at the last look, or was at two looks running
    and has not come back below its start. One that has come back was a transient, as momentum has. Multiples
    make sense only for a metric that cannot be negative: the first one if its limit is 0, otherwise the gap.
    Where there is neither, the first one gets a caveat if it ended that far above its start.
    """
    first = metric = taken[0].metric if taken else GAP
    if metric in gains or limits.get(metric) != 0:
        metric = GAP
    looks = [each for each in taken if each.metric == metric]
    if not looks and first not in gains:
        return outcome, _find_rise([each for each in taken if each.metric == first], outcome)
    if not looks or metric in gains or not 0 < looks[0].value < math.inf:
        return outcome, ()
    ratios = [each.value / looks[0].value for each in looks]
    worst = max(ratios)
    if not RISEN < worst < math.inf:
        return outcome, ()
    above = [each > BLOWN_UP for each in ratios]
    twice = any(one and two for one, two in pairwise(above))
    if outcome.status is Status.DONE and (above[-1] or (twice and ratios[-1] > 1)):
        place = looks[ratios.index(worst)].iteration
        reason = (
            f"{metric} rose to {worst:.2g} times its start at {counted_in} {place} and ended at "
            f"{ratios[-1]:.2g} times"
        )
        return change(outcome, status=Status.DIVERGED, ending=Ending.BLOWN_UP, reason=reason), ()
    times = BLOWN_UP if worst > BLOWN_UP else RISEN
    return outcome, (f"{metric} was above {times:g} times its start for a while",)


def _find_rise(looks: Sequence[Record], outcome: Outcome) -> Caveats:
    """Return a caveat if a metric that may be negative ended far above its start."""
    if outcome.status is not Status.DONE or not looks:
        return ()
    start, end = looks[0].value, looks[-1].value
    if not 0 < BLOWN_UP * abs(start) < end - start < math.inf:
        return ()
    return (f"{looks[0].metric} ended above its start by more than {BLOWN_UP:g} times its size there",)
