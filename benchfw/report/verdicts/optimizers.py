"""The verdict on optimizers: who reaches the target with fewer calls, who faster, who ends better."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchfw.analysis.decisions import Reason, Verdict
from benchfw.analysis.significance import FEWEST_PAIRS
from benchfw.records import Cell
from benchfw.report.text import FEW_NAMES, figures, join_names, plural, sided_figures, times_end
from benchfw.report.verdicts.ends import back_sentence, end_sentence
from benchfw.report.verdicts.leaders import find_leader, has_factor, lowest
from benchfw.report.verdicts.phrases import (
    PREPARED,
    Measure,
    always_arrives,
    arrivals_text,
    arrives_mostly,
    begin_with,
    cells_with,
    choose_measure,
    comparative,
    mean_of,
    missing_sentences,
    none_improves_text,
    observed_text,
    paired_runs,
    reached,
    reference_name,
    target_text,
    undecided_text,
)
from benchfw.report.verdicts.sweeps import is_led, sweep_sentences
from benchfw.summary.contrasts import ARRIVALS
from benchfw.summary.model import Comparison


def optimizer_verdict(comparison: Comparison) -> str:
    """Return one to three sentences on the optimizers of one problem."""
    if not comparison.targets or not comparison.measured:
        return "No method gave a value to compare."
    measure = choose_measure(comparison)
    leader = find_leader(comparison, measure.quantity)
    if not any(reached(comparison, cell)[0] for cell in comparison.measured):
        first, *others = f"{_none_arrives(comparison)}{_best_end(comparison)}", ""
    else:
        first, *others = _main(comparison, measure, leader)
    along = sweep_sentences(comparison)
    if is_led(comparison):
        sentences = [*along, *missing_sentences(comparison)]
    else:
        sentences = [first, _fastest(comparison, measure, leader), *others, *along]
    if any(target.automatic for target in comparison.targets):
        sentences.append(end_sentence(comparison, leader))
        sentences += [back_sentence(comparison, cell) for cell in _praised(comparison, measure, leader)]
    return " ".join(f"{each}." for each in sentences if each)


def _praised(comparison: Comparison, measure: Measure, leader: Cell | None) -> list[Cell]:
    """Return the methods that are named for how they reach the target: the first, their equals, the next."""
    found = [leader or comparison.reference, find_leader(comparison, _time(comparison))]
    if leader is None:
        alike = [*cells_with(comparison, measure.quantity, Verdict.EQUAL)]
        alike += cells_with(comparison, measure.quantity, Verdict.ALIKE)
        behind = cells_with(comparison, measure.quantity, Verdict.WORSE)
        found += alike[:FEW_NAMES] or [lowest(comparison, behind, measure.quantity)]
    return [cell for cell in dict.fromkeys(found) if cell is not None]


def _main(comparison: Comparison, measure: Measure, leader: Cell | None) -> list[str]:
    """Return the sentence on the way to the target, and those on methods that do not always arrive."""
    target = target_text(comparison)
    others = [cell for cell in comparison.measured if cell != comparison.reference_for(cell)]
    rivals = [cell for cell in others if not _lacks_count(comparison, cell, measure)]
    missing = list(missing_sentences(comparison))
    if not rivals:
        return _alone(comparison, measure)
    if leader is not None:
        said = comparative(comparison, leader, measure.quantity, measure.less, measure.more)
        counted = measure.quantity == "cost_to_target"
        after, *beside = _time_clause(comparison, leader) if counted else [""]
        after += _preparation(comparison, leader)
        runs = paired_runs(comparison, leader, measure.quantity)
        way = f"needs {said} than {reference_name(comparison, [leader])} to reach {target} ({runs})"
        return [". ".join([f"{begin_with([comparison.name(leader)])} {way}{after}", *beside]), *missing]
    if cells_with(comparison, ARRIVALS, Verdict.BETTER):
        return [_more_often(comparison, Verdict.BETTER)]
    behind = [cell for cell in rivals if _is_behind(comparison, cell, measure.quantity)]
    if len(behind) < len(rivals):
        return _undecided(comparison, measure, [cell for cell in rivals if cell not in behind])
    if not all(has_factor(comparison, cell, measure.quantity) for cell in behind):
        return [_more_often(comparison, Verdict.WORSE)]
    rival = lowest(comparison, behind, measure.quantity) or behind[0]
    more = comparative(comparison, rival, measure.quantity, measure.less, measure.more)
    runs = paired_runs(comparison, rival, measure.quantity)
    known = " whose cost is known" if len(rivals) < len(others) else ""
    reference = reference_name(comparison, behind)
    first = f"No method{known} reaches {target} {measure.preposition} {measure.less} than {reference}"
    prepared = _preparation(comparison, rival)
    return [f"{first}. The next, {comparison.name(rival)}, needs {more} ({runs}){prepared}", *missing]


def _alone(comparison: Comparison, measure: Measure) -> list[str]:
    alone = "there is no other method to compare it with"
    if not arrives_mostly(comparison, comparison.reference, measure):
        return [f"The target, {target_text(comparison)}, is reached by {arrivals_text(comparison)}; {alone}"]
    seen = observed_text(comparison, measure, [comparison.reference])
    return [f"{seen}; {alone}", *missing_sentences(comparison)]


def _lacks_count(comparison: Comparison, cell: Cell, measure: Measure) -> bool:
    """Return whether a method has no cost to compare by, but a time."""
    timed = comparison.row(cell, "seconds_to_target") is not None
    return timed and measure.quantity == "cost_to_target" and comparison.row(cell, measure.quantity) is None


def _is_behind(comparison: Comparison, cell: Cell, quantity: str) -> bool:
    return Verdict.WORSE in (comparison.verdict(cell, quantity), comparison.verdict(cell, ARRIVALS))


def _more_often(comparison: Comparison, verdict: Verdict) -> str:
    """Return who arrives more often than the reference, or less often, and how often all of them do."""
    cells = cells_with(comparison, ARRIVALS, verdict)
    reference = reference_name(comparison, cells)
    names, target = join_names([comparison.name(cell) for cell in cells]), target_text(comparison)
    references = dict.fromkeys(map(comparison.reference_for, cells))
    counts = arrivals_text(
        comparison, [*references, *cells] if verdict is Verdict.WORSE else [*cells, *references]
    )
    if verdict is Verdict.WORSE:
        return f"{begin_with([reference])} reaches {target} more often than {names}, beyond chance: {counts}"
    reach = "reaches" if len(cells) == 1 else "reach"
    who = begin_with([comparison.name(cell) for cell in cells])
    return f"{who} {reach} {target} more often than {reference}, beyond chance: {counts}"


def _undecided(comparison: Comparison, measure: Measure, rivals: list[Cell]) -> list[str]:
    """Return the sentences for methods of which none is ahead: equal, undecided, or not comparable."""
    target = target_text(comparison)
    words = (Verdict.EQUAL, Verdict.ALIKE, Verdict.UNDECIDED)
    compared = [cell for cell in rivals if comparison.verdict(cell, measure.quantity) in words]
    arriving = [cell for cell in compared if always_arrives(comparison, cell)]
    rival = lowest(comparison, arriving, measure.quantity)
    if rival is not None and always_arrives(comparison, comparison.reference_for(rival)):
        found = undecided_text(comparison, rival, measure.quantity)
        same = [cell for cell in arriving if undecided_text(comparison, cell, measure.quantity) == found]
        names = f"{'each of ' * (len(same) > 1)}{join_names([comparison.name(cell) for cell in same])}"
        reference = reference_name(comparison, same)
        about = f" in {measure.noun} to {target} between {reference} and {names}"
        said = undecided_text(comparison, rival, measure.quantity, about)
        return [f"{said}{_preparation(comparison, *same[:FEW_NAMES])}", *missing_sentences(comparison)]
    alike = [cell for cell in rivals if comparison.verdict(cell, ARRIVALS) is Verdict.UNDECIDED]
    if compared or alike:
        meant = dict.fromkeys([*compared, *alike])
        counts = arrivals_text(
            comparison, dict.fromkeys([*map(comparison.reference_for, meant), *meant]), alone=True
        )
        return [f"No difference beyond chance in who reaches {target}: {counts}"]
    return _not_comparable(comparison, measure, rivals)


def _not_comparable(comparison: Comparison, measure: Measure, rivals: list[Cell]) -> list[str]:
    decisions = [comparison.decision(cell, measure.quantity) for cell in rivals]
    if all(each.reason is Reason.AT_START for each in decisions):
        there = [
            f"{comparison.name(cell)} in {count} of {plural(reached(comparison, cell)[1], 'run')}"
            for cell, count in comparison.at_start.items()
        ]
        at = f"because some runs start at {target_text(comparison)}"
        return [f"Not comparable in {measure.noun}, {at}: {join_names(there)}"]
    runs = min(comparison.runs(cell)[1] for cell in (comparison.reference, *rivals))
    few = "three paired runs are needed" if runs < FEWEST_PAIRS else "too few of their runs arrive"
    named = [comparison.reference, *rivals]
    if not any(arrives_mostly(comparison, cell, measure) for cell in named):
        arrivals = f"The target, {target_text(comparison)}, is reached by {arrivals_text(comparison)}"
        return [f"{arrivals}: not comparable, {few}"]
    seen = observed_text(comparison, measure, named)
    return [f"{seen}: not comparable, {few}", *missing_sentences(comparison)]


def _time_clause(comparison: Comparison, cell: Cell) -> list[str]:
    """Return how a leader in cost compares in time: the end of its sentence, or another one."""
    quantity, time = _time(comparison), comparison.time
    decision = comparison.decision(cell, quantity)
    said = comparative(comparison, cell, quantity, f"less {time}", f"more {time}")
    if said is None:
        words = undecided_text(comparison, cell, quantity)
        return ["", f"In {time}: {words[0].lower()}{words[1:]}"]
    return [f"{' and' if decision.verdict is Verdict.BETTER else ', but'} {said}"]


def _time(comparison: Comparison) -> str:
    return comparison.clocked("seconds_to_target")


def _preparation(comparison: Comparison, *cells: Cell) -> str:
    """Return what methods and the reference took to prepare, which cost and time to the target leave out.

    Also where that turns a difference around.
    """
    parts = []
    for each in dict.fromkeys([*cells, *map(comparison.reference_for, cells)]):
        cost, seconds = (mean_of(comparison, each, name) for name in PREPARED)
        size, unit = comparison.unit("prepare_seconds")
        amounts = [f"{figures(cost)} {comparison.cost_unit}"] if cost else []
        amounts += [f"{figures(seconds / size, 2)} {unit}"] if seconds else []
        if amounts:
            parts.append(f"{comparison.name(each)} {' and '.join(amounts)}")
    if not parts:
        return ""
    turned = [
        f"{comparison.name(cell)} {words}" if len(cells) > 1 else words
        for cell in cells
        for words in _turned(comparison, cell)
    ]
    total = f"; with it, {' and '.join(turned)}" if turned else ""
    return f", not counting preparation ({', '.join(parts)}{total})"


def _turned(comparison: Comparison, cell: Cell) -> Iterator[str]:
    """Yield how often more or less a method takes with preparation, where that is the opposite of without."""
    words = ((f"more {comparison.cost_unit}", f"fewer {comparison.cost_unit}"), ("more time", "less time"))
    both = zip(("cost_to_target", _time(comparison)), PREPARED, words, strict=True)
    for quantity, extra, (more, less) in both:
        mine, theirs = (
            mean_of(comparison, each, quantity) + mean_of(comparison, each, extra)
            for each in (cell, comparison.reference_for(cell))
        )
        verdict = comparison.verdict(cell, quantity)
        if not (0 < mine < math.inf and 0 < theirs < math.inf):
            continue
        if (verdict is Verdict.BETTER and mine > theirs) or (verdict is Verdict.WORSE and mine < theirs):
            word = more if mine > theirs else less
            yield f"{times_end(max(mine, theirs) / min(mine, theirs), 0)} {word}"


def _fastest(comparison: Comparison, measure: Measure, leader: Cell | None) -> str:
    """Return a sentence on time where another method is ahead there than in cost, or only the reference."""
    quantity = _time(comparison)
    first = find_leader(comparison, quantity)
    if measure.quantity == quantity or (first is not None and first == leader):
        return ""
    if first is None:
        return _slower(comparison, quantity) if leader is None else ""
    less = comparative(comparison, first, quantity, "less", "more")
    name, reference = comparison.name(first), reference_name(comparison, [first])
    runs = paired_runs(comparison, first, quantity)
    ahead = f"In {comparison.time}, {name} is ahead of {reference}: {less}"
    return f"{ahead}{_preparation(comparison, first)} ({runs})"


def _slower(comparison: Comparison, quantity: str) -> str:
    """Return a sentence on the methods that take longer than the reference, by the nearest of them."""
    behind = cells_with(comparison, quantity, Verdict.WORSE)
    nearest = lowest(
        comparison, [cell for cell in behind if has_factor(comparison, cell, quantity)], quantity
    )
    if nearest is None:
        return ""
    names, reference = [comparison.name(cell) for cell in behind], reference_name(comparison, behind)
    less = comparative(comparison, nearest, quantity, "more", "less")
    than = f" than {comparison.name(nearest)}" if len(names) > 1 else ""
    ahead = f"In {comparison.time}, {reference} is ahead of {join_names(names)}: {less}{than}"
    return f"{ahead}{_preparation(comparison, nearest)} ({paired_runs(comparison, nearest, quantity)})"


def _none_arrives(comparison: Comparison) -> str:
    if all(target.improved for target in comparison.targets):
        return f"No method reaches {target_text(comparison)} in any of its runs"
    return none_improves_text(comparison)


def _best_end(comparison: Comparison) -> str:
    target = comparison.targets[0]
    rows = [row for cell in comparison.measured if (row := comparison.row(cell, target.metric))]
    choose = max if target.gain else min
    best = choose((row.interval.estimate for row in rows), default=math.inf)
    if not math.isfinite(best):
        return ""
    names = [comparison.name(row.cell) for row in rows if figures(row.interval.estimate) == figures(best)]
    word = "highest" if target.gain else "lowest"
    shown = sided_figures(best, target.level)
    return f"; the {word} median end is {shown}, of {join_names(names)}"
