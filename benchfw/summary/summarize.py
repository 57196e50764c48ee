"""A run's results as numbers to show: per problem and kind of method, each quantity with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from benchfw.analysis.intervals import LEVEL, Interval
from benchfw.analysis.variance import unbiased_probabilities
from benchfw.records import CLAIM, FACT_PREFIX, MethodKind, Result, Run
from benchfw.summary.arrivals import arrival_intervals
from benchfw.summary.caveats import Caveat, find_caveats
from benchfw.summary.faults import Fault, find_faults
from benchfw.summary.model import Method, by_method
from benchfw.summary.quantities import (
    TO_TARGET,
    Sample,
    Target,
    choose_targets,
    finished_trials,
    last_seconds,
    metric_names,
)
from benchfw.summary.rates import Rate, find_rates
from benchfw.summary.samples import sample_trials
from benchfw.summary.standings import ALL_PROBLEMS, Standing, find_standings
from benchfw.summary.sweeps import Sweep, find_sweep

EXPORT_COLUMNS = ("problem", "method", "backend", "quantity", "estimate", "low", "high", "count")


@dataclass(frozen=True)
class Row:
    """One quantity of one method: estimate and interval, and the paired ratio to the reference method.

    `differs` says whether that ratio is other than 1 beyond noise: at 5 % for all methods of the comparison
    together, since a verdict picks the best of them (Bonferroni). Two pairs are never enough.
    `reached` is (trials that met the target, trials that count), for the quantities about a target.
    """

    method: Method
    quantity: str
    interval: Interval
    ratio: Interval | None = None
    differs: bool = False
    reached: tuple[int, int] | None = None


@dataclass(frozen=True)
class Comparison:
    """All methods of one kind on one problem.

    Of estimators, `biased` are those whose bias is not noise, at 5 % for all `tested` ones of the run
    together, and `claims` those that call themselves unbiased.
    """

    problem: str
    kind: MethodKind
    methods: tuple[Method, ...]
    reference: Method
    rows: tuple[Row, ...] = ()
    metrics: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    cost_unit: str = "gradients"
    biased: tuple[Method, ...] = ()
    claims: tuple[Method, ...] = ()
    tested: int = 0
    rates: tuple[Rate, ...] = ()
    trials: int = 0
    finished: int = 0
    sweep: Sweep | None = None

    @cached_property
    def _index(self) -> dict[tuple[Method, str], Row]:
        return {(row.method, row.quantity): row for row in self.rows}

    def row(self, method: Method, quantity: str) -> Row | None:
        """Return the row, or None where the method never gave that quantity."""
        return self._index.get((method, quantity))

    @cached_property
    def measured(self) -> tuple[Method, ...]:
        """Return the methods that gave some number: not those that only failed or were skipped."""
        found = {row.method for row in self.rows}
        return tuple(method for method in self.methods if method in found)

    def name(self, method: Method) -> str:
        """Return the method's label, with its backend where several gave numbers."""
        several = len({other.backend for other in self.measured}) > 1
        return f"{method.label} ({method.backend})" if several else method.label

    def reference_for(self, method: Method) -> Method:
        """Return what the method is measured against: a kernel against itself on its first backend."""
        if self.kind != "kernel":
            return self.reference
        return next(other for other in self.methods if other.label == method.label)


@dataclass(frozen=True)
class Summary:
    """Everything that the terminal and the page say in numbers."""

    title: str
    comparisons: tuple[Comparison, ...]
    faults: tuple[Fault, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    @property
    def measured(self) -> list[Comparison]:
        """Return the comparisons in which some method gave a number."""
        return [comparison for comparison in self.comparisons if comparison.rows]

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Return the average ranks over all problems; made when asked for, since they need SciPy."""
        return find_standings(self.comparisons)

    def export_rows(self) -> list[tuple[str | float | int, ...]]:
        """Return one flat row a quantity, in the order of EXPORT_COLUMNS."""
        rows = [
            (comparison.problem, row.method, row.quantity, row.interval)
            for comparison in self.comparisons
            for row in comparison.rows
        ]
        rows += [
            (ALL_PROBLEMS, method, f"rank_in_{standing.quantity}", rank)
            for standing in self.standings
            for method, rank in standing.ranks.items()
        ]
        return [
            (problem, method.label, method.backend, quantity, each.estimate, each.low, each.high, each.count)
            for problem, method, quantity, each in rows
        ]


def summarize(run: Run, results: Sequence[Result]) -> Summary:
    """Return the summary of a run; results in suite order, so that the first method is the reference."""
    groups: dict[tuple[str, MethodKind], list[Result]] = {}
    for result in results:
        groups.setdefault((result.trial.problem.label, result.trial.kind), []).append(result)
    compared = [_compare(problem, kind, group) for (problem, kind), group in groups.items()]
    comparisons = tuple(_with_biases(compared))
    return Summary(run.title or run.suite, comparisons, find_faults(results), find_caveats(results))


def _compare(
    problem: str, kind: MethodKind, results: Sequence[Result]
) -> tuple[Comparison, Mapping[Method, Sample]]:
    groups = by_method(results)
    finished = {method: finished_trials(group) for method, group in groups.items()}
    reference = next((method for method, group in finished.items() if group), next(iter(groups)))
    targets = choose_targets(finished[reference]) if kind == "optimizer" else ()
    ends = last_seconds(finished[reference]) if kind == "optimizer" and len(groups) > 1 else {}
    samples = {method: sample_trials(kind, group, targets, ends) for method, group in groups.items()}
    if kind == "estimator":
        # a method without variance (the exact gradient) gives no ratio: the next one is the reference
        varying = (method for method, sample in samples.items() if sample.positive("variance"))
        reference = next(varying, reference)
    comparison = Comparison(
        problem,
        kind,
        tuple(groups),
        reference,
        metrics=metric_names(results),
        targets=targets,
        cost_unit=next((unit for unit in (each.outcome.cost_unit for each in results) if unit), "gradients"),
        claims=tuple(method for method, group in groups.items() if kind == "estimator" and _claims(group)),
        trials=len(results),
        finished=sum(map(len, finished.values())),
        sweep=find_sweep({method: group[0].trial.method for method, group in groups.items()}),
    )
    rows = [
        row
        for method, sample in samples.items()
        for row in _rows(method, sample, samples[comparison.reference_for(method)], len(samples) - 1)
    ]
    rates = find_rates(groups, comparison.metrics) if kind == "optimizer" and comparison.metrics else ()
    rows += [Row(rate.method, name, interval) for rate in rates for name, interval in rate.intervals]
    return replace(comparison, rows=tuple(rows), rates=rates), samples


def _rows(method: Method, sample: Sample, reference: Sample, rivals: int) -> Iterator[Row]:
    strict = 1 - (1 - LEVEL) / max(rivals, 1)
    same = sample is reference
    for quantity in sample.values:
        row = Row(
            method,
            quantity.removeprefix(FACT_PREFIX),
            sample.interval(quantity),
            None if same else sample.ratio(reference, quantity),
            False if same else _differs(sample.ratio(reference, quantity, strict)),
            sample.reached if quantity in TO_TARGET else None,
        )
        yield row
        if quantity == "variance_x_seconds" and (same or row.ratio is not None):
            itself = Interval(1.0, 1.0, 1.0, row.interval.count)
            yield Row(method, "relative_efficiency", row.ratio.inverted() if row.ratio else itself)
    for name, interval in arrival_intervals(sample.arrivals):
        yield Row(method, name, interval, reached=sample.reached)


def _differs(ratio: Interval | None) -> bool:
    if ratio is None or ratio.count == 2:
        return False
    if ratio.count == 1 and not ratio.bounded:
        return ratio.estimate != 1  # one run has no noise to compare with; the verdict says that it is one
    return ratio.low > 1 or ratio.high < 1


def _claims(results: Sequence[Result]) -> bool:
    records = (record for result in results for record in result.outcome.records)
    return any(record.metric == CLAIM and record.value == 1 for record in records)


def _with_biases(compared: Sequence[tuple[Comparison, Mapping[Method, Sample]]]) -> Iterator[Comparison]:
    """Yield the comparisons with the estimators whose bias is not noise: one test of all of them (Holm)."""
    biases = {
        (number, method): list(sample.values["bias"].values())
        for number, (_, samples) in enumerate(compared)
        for method, sample in samples.items()
        if len(sample.values.get("bias", ())) > 1
    }
    probabilities = unbiased_probabilities(list(biases.values()))
    found = {place for place, value in zip(biases, probabilities, strict=True) if value <= 1 - LEVEL}
    for number, (comparison, _) in enumerate(compared):
        biased = tuple(method for method in comparison.methods if (number, method) in found)
        yield replace(comparison, biased=biased, tested=len(biases))
