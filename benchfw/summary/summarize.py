"""A run's results as numbers to show: each quantity of each method with its interval; faults and caveats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchfw.analysis.draws import adjust_known
from benchfw.analysis.intervals import LEVEL, Interval
from benchfw.analysis.rates import Curves, Rate, find_rates
from benchfw.records import Cell, Counting, Ending, MethodKind, Result, Status
from benchfw.runs import Run
from benchfw.summary.contrasts import with_decisions
from benchfw.summary.kernels import rate_intervals
from benchfw.summary.model import (
    FINISHED,
    Caveat,
    Comparison,
    Fault,
    History,
    Replays,
    Row,
    Summary,
    histories_by_cell,
)
from benchfw.summary.noise import allow_for_noise, describe_noise, slowdown
from benchfw.summary.quantities import TO_TARGET, Sample, choose_targets, last_seconds, metric_names
from benchfw.summary.samples import sample_trials
from benchfw.summary.sweeps import find_sweep, with_leader


def summarize(run: Run, results: Sequence[Result]) -> Summary:
    """Return the summary of a run; results in suite order, so that the first method is the reference."""
    groups: dict[tuple[str, MethodKind], dict[Cell, list[History]]] = {}
    cells = histories_by_cell(results)
    by_kernel = len({cell.problem for cell in cells if cell.kind == "kernel"}) > 1
    for cell, histories in cells.items():
        subject = cell.method if cell.kind == "kernel" and by_kernel else cell.problem
        groups.setdefault((subject, cell.kind), {})[cell] = histories
    by = slowdown(run.noise)
    compared = [_compare(*place, group, by) for place, group in groups.items()]
    decided = list(with_decisions(compared))
    samples = [found for _, found in compared]
    comparisons = tuple(_with_biases(list(zip(_with_leaders(decided, samples), samples, strict=True))))
    return Summary(
        run.title or run.suite,
        comparisons,
        _find_faults(results),
        _find_caveats(results),
        run.environment.isolation,
        _find_replays(results),
        describe_noise(run),
    )


def _find_replays(results: Sequence[Result]) -> Replays:
    replayed = [result for result in results if result.outcome.replay is not None]
    different: dict[Cell, str] = {}
    for result in replayed:
        if result.outcome.replay:
            different.setdefault(result.trial.cell, result.outcome.replay)
    same = sum(not result.outcome.replay for result in replayed)
    return Replays(len(replayed), same, different)


def _compare(
    problem: str, kind: MethodKind, groups: Mapping[Cell, list[History]], by: float
) -> tuple[Comparison, Mapping[Cell, Sample]]:
    finished = {cell: [each for each in group if each.finished] for cell, group in groups.items()}
    reference = next((cell for cell, group in finished.items() if group), next(iter(groups)))
    trials = [each for group in groups.values() for each in group]
    metrics = metric_names(trials)
    targets = choose_targets([*groups.values()]) if kind == "optimizer" else ()
    ends = last_seconds(finished[reference]) if kind == "optimizer" and len(groups) > 1 else {}
    samples = {
        cell: allow_for_noise(sample_trials(kind, group, targets, ends, metrics), by)
        for cell, group in groups.items()
    }
    if kind == "estimator":
        # a method without variance (the exact gradient) gives no ratio: the next one is the reference
        varied = [cell for cell, sample in samples.items() if sample.varies()]
        whole = (cell for cell in varied if len(finished[cell]) == len(groups[cell]))
        reference = next(whole, next(iter(varied), reference))
    units = (each.result.outcome.cost_unit for each in trials)
    comparison = Comparison(
        problem,
        kind,
        groups,
        reference,
        metrics=metrics,
        targets=targets,
        cost_unit=next(filter(None, units), "gradients"),
        claims=tuple(
            cell
            for cell, group in groups.items()
            if any(each.result.outcome.claims_unbiased for each in group)
        ),
        sweep=find_sweep({cell: group[0].result.trial.method for cell, group in groups.items()}),
    )
    rows = [
        row
        for cell, sample in samples.items()
        for row in _rows(cell, sample, samples[comparison.reference_for(cell)])
    ]
    rates: tuple[Rate, ...] = ()
    if kind == "optimizer" and metrics:
        curves = {
            cell: [Curves(each.curves, each.bounds) for each in group] for cell, group in finished.items()
        }
        rates = find_rates(curves, metrics)
    rows += [Row(rate.cell, name, interval) for rate in rates for name, interval in rate.intervals]
    return replace(comparison, rows=tuple(rows), rates=rates), samples


def _rows(cell: Cell, sample: Sample, reference: Sample) -> Iterator[Row]:
    same = sample is reference
    known = all("mse_x_seconds" in each.values for each in (sample, reference))
    product = "mse_x_seconds" if known else "variance_x_seconds"
    for quantity in sample.values:
        row = Row(
            cell,
            quantity,
            sample.interval(quantity),
            None if same else sample.ratio(reference, quantity),
            sample.reached if quantity in TO_TARGET else None,
        )
        yield row
        if quantity == product and (same or row.ratio is not None):
            itself = Interval(1.0, 1.0, 1.0, row.interval.count)
            yield Row(cell, "relative_efficiency", row.ratio.inverted() if row.ratio else itself)
    for name, interval in sample.fact_intervals():
        yield Row(cell, name, interval)
    for name, interval in rate_intervals(sample):
        yield Row(cell, name, interval)
    for name, interval in sample.arrival_intervals():
        yield Row(cell, name, interval, reached=sample.reached)


def _with_leaders(
    comparisons: Sequence[Comparison], samples: Sequence[Mapping[Cell, Sample]]
) -> Iterator[Comparison]:
    """Yield the comparisons with the leaders of their sweeps, by intervals that hold for all at once."""
    swept = [
        {cell: found[cell] for members in each.sweep.families.values() for cell in members.values()}
        if each.kind == "estimator" and each.sweep and len(each.sweep.families) > 1
        else {}
        for each, found in zip(comparisons, samples, strict=True)
    ]
    level = 1 - (1 - LEVEL) / max(sum(map(len, swept)), 1)
    for comparison, found in zip(comparisons, swept, strict=True):
        intervals = {
            cell: sample.spread_interval("variance", level)
            for cell, sample in found.items()
            if "variance" in sample.values
        }
        sweep = comparison.sweep
        yield replace(comparison, sweep=with_leader(sweep, intervals)) if sweep and intervals else comparison


def _with_biases(compared: Sequence[tuple[Comparison, Mapping[Cell, Sample]]]) -> Iterator[Comparison]:
    """Yield the comparisons with the estimators whose bias is not noise: one test of all of them (Holm)."""
    measured = {
        cell: sample
        for comparison, samples in compared
        for cell, sample in samples.items()
        if "bias" in sample.values and not comparison.runs(cell)[0]
    }
    given = [sample.unbiased_probability() for sample in measured.values()]
    tested = sum(not math.isnan(each) for each in given)
    level = 1 - (1 - LEVEL) / max(tested, 1)
    found = {
        cell: sample.bias_interval(level)
        for (cell, sample), value in zip(measured.items(), adjust_known(given), strict=True)
        if value <= 1 - LEVEL
    }
    for comparison, samples in compared:
        pools = {cell: sample.pool for cell, sample in samples.items() if "variance" in sample.values}
        yield replace(
            comparison,
            biased={cell: found[cell] for cell in comparison.cells if cell in found},
            narrow=tuple(cell for cell, pool in pools.items() if pool is None or not pool.broad),
            scarce=tuple(cell for cell, pool in pools.items() if pool is None or not pool.decisive),
            tested=tested,
        )


def _find_faults(results: Sequence[Result]) -> tuple[Fault, ...]:
    """Return the faults in order of first appearance; trials of one cell with one reason are one fault.

    So are all trials that a missing backend skips, whatever their cell.
    """
    totals = Counter(result.trial.cell for result in results)
    groups: dict[tuple[Cell | str, Status, str], list[Result]] = {}
    for result in results:
        status, trial = result.outcome.status, result.trial
        if status not in FINISHED:
            place = trial.backend if status is Status.SKIPPED else trial.cell
            groups.setdefault((place, status, result.outcome.reason), []).append(result)
    found = []
    for (_, status, reason), group in groups.items():
        cells = tuple(dict.fromkeys(result.trial.cell for result in group))
        numbers = tuple(result.id for result in group)
        found.append(Fault(cells, status, reason, numbers, sum(totals[cell] for cell in cells), group[0]))
    return tuple(found)


def _find_caveats(results: Sequence[Result]) -> tuple[Caveat, ...]:
    """Return the caveats in order of first appearance, each once."""
    found: dict[str, list[Cell]] = {}
    for result in results:
        for text in (*result.outcome.caveats, *_early_end(result)):
            found.setdefault(text, []).append(result.trial.cell)
    for cell, text in _cost_caveats(results):
        found.setdefault(text, []).append(cell)
    return tuple(
        Caveat(
            tuple(dict.fromkeys(cell.method for cell in cells)),
            tuple(dict.fromkeys(cell.problem for cell in cells)),
            text,
        )
        for text, cells in found.items()
    )


def _cost_caveats(results: Sequence[Result]) -> Iterator[tuple[Cell, str]]:
    """Yield a caveat for each cell whose cost was declared by the method, or not counted at all."""
    uncounted: dict[Cell, int] = {}
    for result in results:
        cell, outcome = result.trial.cell, result.outcome
        if outcome.counting is Counting.DECLARED:
            yield cell, "its cost is declared by the method, not counted by the problem"
        elif outcome.counting is Counting.UNCOUNTED:
            last = max((each.iteration for each in outcome.records), default=0)
            uncounted[cell] = max(last, uncounted.get(cell, 0))
    for cell, number in uncounted.items():
        what = "draws" if cell.kind == "estimator" else "answers"
        yield cell, f"most of {number:,} {what} without a counted oracle call: cost does not measure its work"


def _early_end(result: Result) -> Iterator[str]:
    """Yield a caveat on a method that stopped although its budget would have let it go on to the target."""
    outcome = result.outcome
    if result.trial.target and outcome.status is Status.DONE and outcome.ending is Ending.BY_ITSELF:
        yield "it ended by itself, before the target and before its budget was spent"
