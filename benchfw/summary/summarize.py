"""A run's results as numbers to show: each quantity of each method with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, starmap
from typing import NamedTuple, TypeAlias

from benchfw.analysis.decisions import Contrast
from benchfw.analysis.intervals import Interval
from benchfw.analysis.rates import Rate, find_rates
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.records import GAP, Cell, MethodKind, Result
from benchfw.summary.arrivals import first_to_arrive, others_have_begun
from benchfw.summary.claims.parts import Measurements
from benchfw.summary.claims.reader import ClaimReader
from benchfw.summary.contrasts import find_contrasts, with_decisions
from benchfw.summary.draws import DrawSample
from benchfw.summary.faults import Findings
from benchfw.summary.histories import History, Tally
from benchfw.summary.kernels import rate_intervals
from benchfw.summary.lines import find_hits, find_lines
from benchfw.summary.model import CPU_TIMES, Comparison, Row, Summary
from benchfw.summary.noise import (
    allow_for_noise,
    cpu_slowdown,
    describe_noise,
    has_quieter_cpu,
    slowdown,
    waits,
)
from benchfw.summary.quantities import TO_TARGET, Sample
from benchfw.summary.samples import sample_trials
from benchfw.summary.sweeps import find_sweep
from benchfw.summary.targets import BestKnown, Gaps, choose_targets, metric_names, with_gaps
from benchfw.summary.times import TUNING, find_units
from benchfw.summary.tuned import TunedMethod
from benchfw.summary.tuning_reader import TuningReader

Groups: TypeAlias = dict[Cell, list[History]]


class Compared(NamedTuple):
    """One comparison, what may become a sentence of it, and, of estimators, their samples."""

    comparison: Comparison
    contrasts: Sequence[Contrast]
    samples: Mapping[Cell, DrawSample]


def summarize(
    run: Run, results: Iterable[Result], *, figures: bool = True, best_known: BestKnown = lambda _: {}
) -> Summary:
    """Return the summary of a run; results in suite order, so that the first method is the reference.

    Of an iterator, one comparison at a time is held in memory, and its trials must come one after another,
    as in a store. Without `figures` there is nothing to draw. `best_known` has the lowest objectives of other
    runs, for problems that do not know their optimum.
    """
    findings = Findings()
    by = slowdown(run.noise)
    cpu_by = cpu_slowdown(run.noise, run.noise.quiet) if by > 1 else 1.0
    jobs = run.environment.jobs if run.environment.clock == "wall" else 1
    tuning = TuningReader(run)
    claims = ClaimReader(run)
    verdict = claims.listen(tuning.listen(results))
    in_order = _in_order([*verdict]) if isinstance(results, Sequence) else verdict
    groups = _group(findings.listen(in_order))
    # starmap: the variable of a loop would keep a group while the next one is read
    by_cpu = has_quieter_cpu(run.noise) and run.environment.threads == 1
    asked = run.environment.reference
    compare = partial(
        _compare,
        asked=asked,
        best_known=best_known,
        by=by,
        cpu_by=cpu_by,
        by_cpu=by_cpu,
        jobs=jobs,
        figures=figures,
        claims=claims,
        paired=not run.environment.imported,
    )
    compared = list(starmap(compare, groups))
    comparisons = tuple(with_decisions(compared))
    tuned = tuning.tuned()
    summary = Summary(
        run.title or run.suite,
        comparisons,
        tuple(replace(each, plugins=run.environment.plugins, store=run.store) for each in findings.faults),
        findings.caveats,
        run.environment.isolation,
        findings.replays,
        describe_noise(run),
        findings.trials,
        () if run.environment.imported else tuple(sorted(findings.seeds)),
        jobs if findings.on_host else 1,  # of trials on a device one runs at a time
        tuned,
        tuning.allowance,
        claims.decide(),
        run.environment.imported,
    )
    return summary.with_units(find_units(_times(comparisons, tuned)))


def _times(comparisons: Iterable[Comparison], tuned: Iterable[TunedMethod]) -> Iterator[tuple[str, float]]:
    """Yield all times of a report by their quantity; where no method arrives, those at which curves end."""
    found = list(comparisons)
    rows = [(row.quantity, row.interval.estimate) for each in found for row in each.rows]
    yield from rows
    if not any(name == "seconds_to_target" and math.isfinite(seconds) for name, seconds in rows):
        bands = (
            line.bands.get("seconds") for each in found for lines in each.lines.values() for line in lines
        )
        yield from (("seconds_to_target", float(end)) for band in bands if band for end in band.grid[-1:])
    yield from ((TUNING, each.seconds) for each in tuned)


def _in_order(results: Sequence[Result]) -> list[Result]:
    """Return results such that those of one comparison come together, in the order of first appearance."""
    places: dict[tuple[str, MethodKind], int] = {}
    return sorted(results, key=lambda each: places.setdefault(_place(each.trial.cell), len(places)))


def _place(cell: Cell) -> tuple[str, MethodKind]:
    return ("" if cell.kind == "kernel" else cell.problem), cell.kind


def _group(histories: Iterable[History]) -> Iterator[tuple[str, MethodKind, Groups]]:
    """Yield the trials of one comparison after another, by cell; kernels of several sizes by kernel."""
    seen: set[tuple[str, MethodKind]] = set()
    for place, trials in groupby(histories, lambda each: _place(each.trial.cell)):
        if place in seen:
            raise BenchfwError(f"the trials on '{place[0]}' are in two places of the run; run it again")
        seen.add(place)
        cells: Groups = {}
        for each in trials:
            cells.setdefault(each.trial.cell, []).append(each)
        sizes = {cell.problem for cell in cells} if place[1] == "kernel" else set()
        if len(sizes) <= 1:
            yield next(iter(sizes), place[0]), place[1], cells
            continue
        for kernel in dict.fromkeys(cell.method for cell in cells):
            yield kernel, place[1], {cell: group for cell, group in cells.items() if cell.method == kernel}


def _compare(
    problem: str,
    kind: MethodKind,
    groups: Groups,
    *,
    asked: str,
    best_known: BestKnown,
    by: float,
    cpu_by: float,
    by_cpu: bool,
    jobs: int,
    figures: bool,
    claims: ClaimReader,
    paired: bool,
) -> Compared:
    gaps = with_gaps(groups, best_known) if kind == "optimizer" else Gaps(groups)
    groups = gaps.groups
    finished = {cell: [each for each in group if each.finished] for cell, group in groups.items()}
    trials = [each for group in groups.values() for each in group]
    metrics = metric_names(trials)
    gains = frozenset(name for each in trials for name in each.gains)
    targets = choose_targets([*groups.values()]) if kind == "optimizer" else ()
    wanted = reference = _wanted_reference(finished, asked)
    # one that ends by itself, when others have begun, need not reach a target that nobody has named
    unnamed = all(target.automatic for target in targets)
    if kind == "optimizer" and not (unnamed and others_have_begun(groups, wanted)):
        reference = first_to_arrive(groups, wanted, targets)
    samples = {
        cell: allow_for_noise(sample_trials(kind, group, targets, metrics, by, cpu_by), by, cpu_by)
        for cell, group in groups.items()
    }
    drawn = {cell: sample for cell, sample in samples.items() if isinstance(sample, DrawSample)}
    repeated = tuple(cell for cell, sample in drawn.items() if sample.repeats)
    drawn |= {cell: drawn[cell].as_one_run() for cell in repeated}
    samples |= drawn
    if kind == "estimator":
        # a method without variance (the exact gradient) gives no ratio: the next one is the reference
        varied = [cell for cell, sample in drawn.items() if sample.varies()]
        whole = (cell for cell in varied if len(finished[cell]) == len(groups[cell]))
        reference = next(whole, next(iter(varied), reference))
    units = (each.outcome.cost_unit for each in trials)
    comparison = Comparison(
        problem,
        kind,
        {cell: Tally.of(group) for cell, group in groups.items()},
        reference,
        metrics=metrics,
        gains=gains,
        targets=targets,
        best=gaps.source,
        falling=gaps.falling,
        cost_unit=next(filter(None, units), "gradients"),
        jobs=jobs,
        paired=paired,
        replaced=wanted if kind == "optimizer" and reference != wanted else None,
        at_start={cell: count for cell, sample in samples.items() if (count := sample.at_start)},
        at_zero={
            (cell, quantity): (count, len(found))
            for cell, sample in samples.items()
            for quantity, found in sample.values.items()
            if kind == "optimizer" and quantity in metrics
            if not sample.is_gain(quantity)
            if (count := sum(low == 0 for low, _ in sample.find_brackets(quantity).values()))
        },
        repeated=repeated,
        claims=tuple(
            cell for cell, group in groups.items() if any(each.outcome.claims_unbiased for each in group)
        ),
        sweep=None
        if kind == "kernel"
        else find_sweep({cell: group[0].trial.method for cell, group in groups.items()}),
        by_cpu=by_cpu
        and kind != "kernel"
        and all(_has_cpu_times(each) and not waits(each, by) for each in samples.values()),
    )
    rows = [
        row
        for cell, sample in samples.items()
        for row in _rows(cell, sample, samples[comparison.reference_for(cell)], comparison)
    ]
    if not paired:
        rows = [replace(row, ratio=None) for row in rows]
    rates: tuple[Rate, ...] = ()
    if kind == "optimizer" and metrics:
        curves = {
            # effort is what a method makes of it: only a theorem gives its slope a meaning
            cell: [each for each in group if each.bounded or not each.outcome.from_scratch]
            for cell, group in finished.items()
        }
        # the best objective bends the curve of the method that has it
        falling = [name for name in metrics if name not in gains and not (gaps.source and name == GAP)]
        rates = find_rates(curves, falling)
    rows += [Row(rate.cell, name, interval) for rate in rates for name, interval in rate.intervals]
    comparison = replace(comparison, rows=tuple(rows), rates=rates)
    claims.read(Measurements(kind, samples, groups, metrics, comparison.cost_unit))
    contrasts = list(find_contrasts(comparison, samples)) if paired else []
    if figures and kind == "optimizer":
        comparison = replace(
            comparison,
            lines={metric: find_lines(groups, metric) for metric in metrics},
            hits=find_hits(groups, targets[0].metric) if targets else {},
        )
    return Compared(comparison, contrasts, drawn)


def _wanted_reference(finished: Mapping[Cell, Sequence[History]], asked: str) -> Cell:
    """Return the method that was asked for, or the first; one that finished some trial where there is any."""
    measured = [cell for cell, group in finished.items() if group] or list(finished)
    return next((cell for cell in measured if cell.method == asked), measured[0])


def _has_cpu_times(sample: Sample) -> bool:
    return all(CPU_TIMES[time] in sample.values for time in CPU_TIMES if time in sample.values)


def _rows(cell: Cell, sample: Sample, reference: Sample, comparison: Comparison) -> Iterator[Row]:
    same = sample is reference
    # what stopped some run of an estimator would be in its variance: nothing of it is compared
    broken = comparison.kind == "estimator" and any(
        comparison.runs(each)[0] for each in (cell, comparison.reference_for(cell))
    )
    known = all("mse_x_seconds" in each.values for each in (sample, reference))
    product = comparison.clocked("mse_x_seconds" if known else "variance_x_seconds")
    for quantity in sample.values:
        row = Row(
            cell,
            quantity,
            sample.interval(quantity),
            None if same or broken else sample.ratio(reference, quantity),
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
