"""Sentences on a sweep: which family of methods is ahead at every value of the number that was varied."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchfw.analysis.medians import CHECKED_PAIRS
from benchfw.report.text import FEW_NAMES, join_names, plural, times_end, times_range
from benchfw.report.verdicts.phrases import TAKEN, preparation_sentences, target_text
from benchfw.summary.contrasts import swept_quantities
from benchfw.summary.model import Comparison, Lead, Sweep

PRODUCTS = {
    "mse_x_seconds": "mean squared error x time",
    "variance_x_seconds": "variance x time",
    "mse_x_cpu_seconds": "mean squared error x CPU time",
    "variance_x_cpu_seconds": "variance x CPU time",
}


def sweep_sentences(comparison: Comparison) -> list[str]:
    """Return who is ahead at every value that the families of a sweep share, or that nobody is."""
    sweep = comparison.sweep
    if sweep is None or not sweep.contested or not comparison.paired:
        return []
    every = every_value(sweep)
    where = f"{every} from {sweep.values[0]:g} to {sweep.values[-1]:g}"
    main, *others = (_leads(comparison, sweep, quantity) for quantity in swept_quantities(comparison))
    if not main:
        return [f"No method is shown to be ahead of the others at {where}"]
    named = {name for each in main for name in (each.family, each.rival)}
    left = [name for name in sweep.curves if name not in named]
    open_ones = [f"How {join_names(left)} compares is not shown at {every}"] if left else []
    return [
        *_main_sentences(comparison, main, where),
        *(_second_sentence(comparison, each, main) for each in others if each),
        *open_ones,
        *preparation_sentences(comparison),
    ]


def every_value(sweep: Sweep) -> str:
    """Return 'every mean', 'every value of probes'."""
    return f"every {'value of ' * sweep.parameter.endswith('s')}{sweep.parameter}"


def is_led(comparison: Comparison) -> bool:
    """Return whether some family of a sweep is ahead of another at every value."""
    return comparison.sweep is not None and bool(comparison.sweep.leads)


def _leads(comparison: Comparison, sweep: Sweep, quantity: str) -> list[Lead]:
    """Return what to say: how far the leader is below the others, or who is below or above the reference."""
    found = [each for each in sweep.leads if each.quantity == quantity]
    leader, place = sweep.leader(quantity), sweep.place(comparison.reference)
    if leader:
        return [each for each in found if each.family == leader]
    return [each for each in found if place and place[0] in (each.family, each.rival)]


def _main_sentences(comparison: Comparison, leads: Sequence[Lead], where: str) -> Iterator[str]:
    drawn = comparison.kind == "estimator"
    verb, after = ("has", "") if drawn else ("needs", f" to reach {target_text(comparison)}")
    for family in dict.fromkeys(each.family for each in leads):
        first, *rest = sorted((each for each in leads if each.family == family), key=lambda each: each.margin)
        noun = f"fewer {comparison.cost_unit}" if first.quantity == "cost_to_target" else "less variance"
        parts = [
            _describe_lead(first, noun),
            *(_describe_lead(each, noun.partition(" ")[0]) for each in rest),
        ]
        yield f"At {where}, {family} {verb} {join_names(parts)}{after}, in {_runs([first, *rest])}"


def _second_sentence(comparison: Comparison, leads: Sequence[Lead], main: Sequence[Lead]) -> str:
    """Return the same for the time, or with the time counted, by what it is at least."""
    what = PRODUCTS.get(leads[0].quantity, comparison.time)
    same = {(each.family, each.rival) for each in leads} == {(each.family, each.rival) for each in main}
    least = times_end(min(each.margin for each in leads))
    if same:
        return f"The same holds in {what}, by at least {least}"
    pairs = [f"{each.family} is ahead of {each.rival}" for each in leads[:FEW_NAMES]]
    return f"In {what}, {join_names(pairs)} there, by at least {least}"


def _describe_lead(lead: Lead, noun: str) -> str:
    """Return '40 to 250 times less than poisson (by the intervals at least 31)'."""
    factor, least = describe_factor([lead])
    return f"{factor} {noun} than {lead.rival}{least}"


def describe_factor(leads: Sequence[Lead]) -> tuple[str, str]:
    """Return ('40 to 250 times', ' (by the intervals at least 31)').

    Some are known from below only: then '40 or more times'; all of them: 'at least 31 times'.
    """
    least = times_end(min(each.margin for each in leads))
    low, high = min(each.low for each in leads), max(each.high for each in leads)
    if math.isinf(low):
        return f"at least {least}", " (the lowest end of the intervals)"
    return times_range(low, high), f" (by the intervals at least {least.removesuffix(' times')})"


def _runs(leads: Sequence[Lead]) -> str:
    runs = min(each.runs for each in leads)
    return f"{plural(runs, 'run')}{TAKEN if runs < CHECKED_PAIRS else ''}"
