"""Sentences over all problems: on how many of them a method is ahead, by how much, and on which it is not.

They count what was decided problem by problem, and claim nothing beyond it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.intervals import Interval
from benchfw.records import Cell, MethodKind
from benchfw.report.text import FEW_NAMES, join_names, plural, ratio_text, times_end, times_range, times_text
from benchfw.report.verdicts.leaders import find_leader
from benchfw.report.verdicts.phrases import (
    begin_with,
    choose_measure,
    comparative,
    preparation_sentences,
    reached,
)
from benchfw.report.verdicts.sweeps import PRODUCTS, describe_factor, every_value
from benchfw.summary.contrasts import swept_quantities
from benchfw.summary.model import Comparison, Lead, Summary

FEWEST_PROBLEMS = 2


def overall_sentences(summary: Summary) -> list[str]:
    """Return one to three sentences over the problems of each kind of method that had several."""
    if summary.imported:
        return []
    kinds = dict.fromkeys(each.kind for each in summary.measured if each.kind != "kernel")
    return [sentence for kind in kinds for sentence in _sentences(comparisons_of(summary, kind))]


def comparisons_of(summary: Summary, kind: MethodKind) -> list[Comparison]:
    """Return the comparisons of one kind of which two methods or more are in another one, too."""
    found = [each for each in summary.measured if each.kind == kind]
    counts = Counter(cell.method for each in found for cell in each.measured)
    return [each for each in found if sum(counts[cell.method] > 1 for cell in each.measured) > 1]


def main_quantity(comparison: Comparison) -> str:
    """Return what the verdict on a comparison is about first."""
    if comparison.kind == "optimizer":
        return choose_measure(comparison).quantity
    return comparison.product if comparison.kind == "estimator" else "seconds_per_call"


def _sentences(comparisons: Sequence[Comparison]) -> list[str]:
    if len(comparisons) < FEWEST_PROBLEMS:
        return []
    references = {each.name(each.reference) for each in comparisons}
    if all(each.sweep is not None and each.sweep.contested for each in comparisons):
        said = _swept_sentences(comparisons)
    elif len(references) > 1 and len(comparisons) <= FEW_NAMES:
        said = _listed_sentences(comparisons)
    else:
        said = _counted_sentences(comparisons)
    return [*said, *preparation_sentences(*comparisons)]


def _swept_sentences(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield which family leads at every value, and on how many problems."""
    leads: dict[str, list[Lead]] = {}
    for each in comparisons:
        if each.sweep is not None:
            quantity = swept_quantities(each)[0]
            leader = each.sweep.leader(quantity)
            found = [one for one in each.sweep.leads if (one.family, one.quantity) == (leader, quantity)]
            leads[each.problem] = found
    names = [found[0].family for found in leads.values() if found]
    sweep = comparisons[0].sweep
    if sweep is None:
        return
    every, kind = every_value(sweep), comparisons[0].kind
    if not names:
        none = f"On none of {_count(comparisons)} is one family of {kind}s"
        yield f"{none} shown to be ahead of all others at {every}"
        return
    first = max(dict.fromkeys(names), key=names.count)
    nearest = [
        min(found, key=lambda one: one.margin)
        for found in leads.values()
        if found and found[0].family == first
    ]
    unit = comparisons[0].cost_unit
    least = "has the least variance" if kind == "estimator" else f"needs the fewest {unit}"
    factor, bound = describe_factor(nearest)
    fewer = "less" if kind == "estimator" else "fewer"
    where = f"on {names.count(first)} of {_count(comparisons)}: {factor} {fewer} than the next{bound}"
    if any(_has_others(each) for each in comparisons):  # which may have less
        yield f"Of the methods that ran at {every}, {first} {least} at each {where}"
    else:
        yield f"{begin_with([first])} {least} at {every} {where}"
    for name in dict.fromkeys(each for each in names if each != first):
        theirs = [problem for problem, found in leads.items() if found and found[0].family == name]
        yield f"On {join_names(theirs)} it is {name}"
    left = [problem for problem, found in leads.items() if not found]
    if left:
        yield f"On {join_names(left)}, no method is shown to be below all others"


def _listed_sentences(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield who is ahead problem by problem, where ratios are not to one method."""
    for comparison in comparisons:
        quantity = main_quantity(comparison)
        leader, reference = find_leader(comparison, quantity), comparison.name(comparison.reference)
        verb, less, _ = _less(comparison)
        if leader is None:
            yield _describe_reference(comparison, quantity)
        else:
            said = comparative(comparison, leader, quantity, less, "")
            yield f"On {comparison.problem}, {comparison.name(leader)} {verb} {said} than {reference}"


def _has_others(comparison: Comparison) -> bool:
    """Whether a comparison has methods that are on no curve of its sweep."""
    sweep = comparison.sweep
    places = [sweep.place(cell) for cell in comparison.measured] if sweep else []
    return any(place is None or (sweep and place[0] not in sweep.curves) for place in places)


def _describe_reference(comparison: Comparison, quantity: str) -> str:
    """Return how many methods a reference is ahead of that none is ahead of."""
    others = [cell for cell in comparison.measured if cell != comparison.reference]
    behind = [cell for cell in others if comparison.decision(cell, quantity).verdict is Verdict.WORSE]
    name, problem = comparison.name(comparison.reference), comparison.problem
    if not behind:
        return f"On {problem} no method is shown to be ahead of {name} in {_unit(comparison)}"
    if len(behind) == len(others):
        all_others = "all others" if len(others) > 1 else comparison.name(others[0])
        return f"On {problem}, {name} is ahead of {all_others}{_least_lead(comparison, behind, quantity)}"
    most = f"{len(behind)} of {len(others)} other methods"
    return (
        f"On {problem}, {name} is ahead of {most} in {_unit(comparison)}, and none is shown to be ahead of it"
    )


def _least_lead(comparison: Comparison, behind: Sequence[Cell], quantity: str) -> str:
    """Return by how much a reference is ahead of the methods behind it, at least."""
    intervals = [comparison.decision(cell, quantity).interval for cell in behind]
    lows = [each.low for each in intervals if each is not None]
    if len(lows) < len(behind) or min(lows) <= 1:
        return ""
    verb, less, after = _less(comparison)
    return f": it {verb} at least {times_end(min(lows))} {less}{after}"


def _counted_sentences(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Yield the method that is ahead of the reference on most problems, and the exceptions."""
    ahead: dict[str, list[Interval]] = {}
    words: dict[str, dict[str, Verdict]] = {}
    for comparison in comparisons:
        quantity = main_quantity(comparison)
        for cell in comparison.measured:
            decision, name = comparison.decision(cell, quantity), comparison.name(cell)
            if cell != comparison.reference:
                words.setdefault(name, {})[comparison.problem] = decision.verdict
            if decision.verdict is Verdict.BETTER and decision.interval is not None:
                ahead.setdefault(name, []).append(decision.interval.inverted())
    references = Counter(each.name(each.reference) for each in comparisons)
    than = "the reference" if len(references) > 1 else next(iter(references))
    if not ahead:
        in_what = f" in {_unit(comparisons[0])}"
        yield f"On none of {_count(comparisons)} is a method shown to be ahead of {than}{in_what}"
        return
    first = max(ahead, key=lambda name: (len(ahead[name]), _middle(ahead[name])))
    verb, less, after = _less(comparisons[0])
    there = [problem for problem, word in words[first].items() if word is Verdict.BETTER]
    on = f"{len(there)} of {_count(comparisons)}"
    on = f"on {on}" if len(there) > 1 else f"on {there[0]} ({on})"
    factor, bound = _describe_factor(ahead[first])
    yield f"{begin_with([first])} {verb} {factor} {less} than {than}{after} {on}{bound}"
    yield from _exceptions(comparisons, first, words[first])
    rivals = sorted((name for name in ahead if name != first), key=lambda name: -len(ahead[name]))
    if rivals:
        counts = [f"{name} (on {len(ahead[name])})" for name in rivals]
        yield f"Also ahead of {than}: {join_names(counts)}"
    if len(references) > 1:
        named = [f"{name} on {plural(count, 'problem')}" for name, count in references.most_common()]
        yield f"The reference is {join_names(named)}"


def _exceptions(
    comparisons: Sequence[Comparison], name: str, verdicts: Mapping[str, Verdict]
) -> Iterator[str]:
    """Yield the problems on which a method is not ahead, and what it is there."""
    for verdict, text in (
        (Verdict.WORSE, "It is behind on"),
        (Verdict.EQUAL, "Equal within 10 % on"),
        (Verdict.ALIKE, "Within 10 % in each pair of runs on"),
        (Verdict.UNDECIDED, "No difference beyond noise on"),
    ):
        found = [problem for problem, word in verdicts.items() if word is verdict]
        if found:
            yield f"{text} {join_names(found)}{_one_ratio(comparisons, name, found)}"
    others = [problem for problem, word in verdicts.items() if word is Verdict.NOT_COMPARABLE]
    missed = [problem for problem in others if not _arrives(*_find(comparisons, name, problem))]
    if missed:
        yield f"Neither reaches the target on {join_names(missed)}"
    if len(missed) < len(others):
        yield f"It cannot be compared on {join_names([each for each in others if each not in missed])}"


def _one_ratio(comparisons: Sequence[Comparison], name: str, problems: Sequence[str]) -> str:
    """Return the ratio of a method on a single problem, with the interval of the verdict."""
    if len(problems) > 1:
        return ""
    comparison, cell = _find(comparisons, name, problems[0])
    interval = comparison.decision(cell, main_quantity(comparison)).interval
    return f" (ratio {ratio_text(interval)})" if interval is not None else ""


def _find(comparisons: Sequence[Comparison], name: str, problem: str) -> tuple[Comparison, Cell]:
    """Return the comparison on a problem, and the method of this name in it."""
    comparison = next(each for each in comparisons if each.problem == problem)
    return comparison, next(each for each in comparison.measured if comparison.name(each) == name)


def _arrives(comparison: Comparison, cell: Cell) -> bool:
    """Return whether a run of a method or of the reference meets the target, if there is one."""
    cells = cell, comparison.reference
    return comparison.kind != "optimizer" or any(reached(comparison, each)[0] for each in cells)


def _count(comparisons: Sequence[Comparison]) -> str:
    return plural(len(comparisons), "problem")


def _middle(ratios: Sequence[Interval]) -> float:
    known = [each.estimate for each in ratios if 0 < each.estimate < math.inf]
    return sum(map(math.log, known)) / len(known) if known else 0.0


def _unit(comparison: Comparison) -> str:
    """Return what methods are compared in."""
    quantity = main_quantity(comparison)
    if comparison.kind == "estimator":
        return PRODUCTS[quantity]
    return comparison.cost_unit if quantity == "cost_to_target" else comparison.time


def _less(comparison: Comparison) -> tuple[str, str, str]:
    """Return the verb of a sentence on who is ahead, what there is less of, and what follows."""
    quantity = main_quantity(comparison)
    if comparison.kind == "estimator":
        return "has", f"less {PRODUCTS[quantity]}", ""
    counted = quantity == "cost_to_target"
    return (
        "needs",
        f"fewer {comparison.cost_unit}" if counted else f"less {comparison.time}",
        " to reach the target",
    )


def _describe_factor(ratios: Sequence[Interval]) -> tuple[str, str]:
    """Return '2.1 to 3.5 times' and what the intervals allow at least; only that where an end is open."""
    if len(ratios) == 1 and ratios[0].bounded:
        return times_text(ratios[0].inverted()), ""
    least = times_end(min(each.low for each in ratios))
    if any(not each.bounded or math.isinf(each.estimate) for each in ratios):
        return f"at least {least}", " (the lowest end of the intervals)"
    low, high = (each(ratio.estimate for ratio in ratios) for each in (min, max))
    return times_range(low, high), f" (by the intervals at least {least.removesuffix(' times')})"
