"""Verdict sentences from numbers: what was seen, with its interval, also when it was no difference."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchfw.analysis.intervals import Interval
from benchfw.report.numbers import figures, interval_text, ratio_text, time_unit
from benchfw.report.summary import Comparison, Row

_FEW_NAMES = 4


def verdict(comparison: Comparison) -> str:
    """Return what the run says about the methods of one kind on one problem, in one to three sentences."""
    if comparison.finished == 0:
        return f"No trial finished: {_counted(comparison.trials, 'trial')}, none to the end."
    if comparison.kind == "optimizer":
        return _optimizers(comparison)
    if comparison.kind == "estimator":
        return _estimators(comparison)
    return _kernels(comparison)


def target_text(comparison: Comparison) -> str:
    """Return the common target: 'gap 1.2e-05', and where it comes from if the suite names none."""
    named = " and ".join(f"{target.metric} {target.value:g}" for target in comparison.targets)
    automatic = any(target.automatic for target in comparison.targets)
    return f"{named} (where {comparison.name(comparison.reference)} ends)" if automatic else named


def comparative(row: Row | None, less: str, more: str) -> str | None:
    """Return '2.3 [2.1, 2.6] times {less}' or '… {more}' for a row's ratio; None if it may be 1."""
    if row is None or row.ratio is None or not row.differs or row.ratio.high == 0:
        return None
    if row.ratio.estimate > 1:
        return f"{ratio_text(row.ratio)} times {more}"
    if row.ratio.estimate == 0:  # the reference mostly never got there: only the near end is known
        return f"at least {figures(1 / row.ratio.high, 2)} times {less}"
    return f"{ratio_text(row.ratio.inverted())} times {less}"


def _optimizers(comparison: Comparison) -> str:
    costs = _rows(comparison, "cost_to_target")
    reached = [row for row in costs if math.isfinite(row.interval.estimate)]
    if not comparison.targets or not costs:
        return "No method gave a value to compare."
    if not reached:
        target = target_text(comparison)
        return f"No method reaches {target} in more than half of its runs{_closest(comparison)}."
    reference = comparison.row(comparison.reference, "cost_to_target")
    # the first among those ahead of the reference beyond noise, if any: an estimate alone may be luck
    best = min(_ahead(reached) or reached, key=_merit)
    if reference is None or (reference not in reached and comparative(best, "", "") is None):
        sentence = _without_reference(comparison, reached)
    elif len(costs) == 1:
        sentence = f"{_alone(comparison, reference)}; there is no other method to compare it with"
    elif best is reference:
        sentence = _reference_first(comparison, reference, reached)
    else:
        sentence = _better(comparison, best)
    end = _end(comparison, best) if any(target.automatic for target in comparison.targets) else ""
    return f"{sentence}{_others(comparison, costs)}.{_fastest(comparison, best)}{end}"


def _ahead(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that are below the reference beyond noise."""
    return [row for row in rows if row.differs and row.ratio and row.ratio.estimate < 1]


def _better(comparison: Comparison, best: Row) -> str:
    """Return the sentence for a method that is ahead of the reference, at least in its estimate."""
    fewer = comparative(best, f"fewer {comparison.cost_unit}", f"more {comparison.cost_unit}")
    if fewer is None or best.ratio is None:
        return _no_difference(comparison, best)
    name, reference = comparison.name(best.method), comparison.name(comparison.reference)
    seconds = _time_clause(comparison.row(best.method, "seconds_to_target"))
    runs = _runs(best.ratio)
    return f"{name} reaches {target_text(comparison)} with {fewer} than {reference}{seconds} ({runs})"


def _time_clause(row: Row | None) -> str:
    if row is None or row.ratio is None:
        return ""
    said = comparative(row, "less time", "more time")
    if said is None:
        return " and in about the same time"
    return f" and in {said}" if row.ratio.estimate < 1 else f", but in {said}"


def _reference_first(comparison: Comparison, reference: Row, reached: Sequence[Row]) -> str:
    """Return the sentence for a reference that no other method is ahead of, not even in its estimate."""
    rival = min((row for row in reached if row is not reference), key=_merit, default=None)
    if rival is None:
        return f"Only {_alone(comparison, reference)}"
    more = comparative(rival, "fewer", f"more {comparison.cost_unit}")
    if rival.ratio is None or more is None:
        return _no_difference(comparison, rival)
    return (
        f"No method reaches {target_text(comparison)} with fewer {comparison.cost_unit} than "
        f"{comparison.name(reference.method)}; the next, {comparison.name(rival.method)}, needs {more} "
        f"({_runs(rival.ratio)})"
    )


def _no_difference(comparison: Comparison, rival: Row) -> str:
    return (
        f"{_noise(rival)} in {comparison.cost_unit} to {target_text(comparison)} "
        f"between {comparison.name(comparison.reference)} and the next best, {comparison.name(rival.method)}"
    )


def _noise(row: Row) -> str:
    if row.ratio is None:
        return "No difference beyond noise"
    if row.ratio.count == 2:
        return "Two paired runs are too few to tell a difference"
    return f"No difference beyond noise ({_runs(row.ratio)})"


def _without_reference(comparison: Comparison, reached: Sequence[Row]) -> str:
    """Return the sentence for methods that get there where the reference does not."""
    first = sorted(reached, key=_merit)[:_FEW_NAMES]
    if len(first) == 1:
        return f"Only {_alone(comparison, first[0])}"
    names = _listed([comparison.name(row.method) for row in first])
    costs = _listed([interval_text(row.interval) for row in first])
    runs = _counted(first[0].interval.count, "run")
    return f"{names} reach {target_text(comparison)} with {costs} {comparison.cost_unit} ({runs})"


def _alone(comparison: Comparison, row: Row) -> str:
    cost = interval_text(row.interval)
    return (
        f"{comparison.name(row.method)} reaches {target_text(comparison)} with {cost} {comparison.cost_unit} "
        f"({_counted(row.interval.count, 'run')})"
    )


def _others(comparison: Comparison, costs: Sequence[Row]) -> str:
    """Return who never reaches the target, and who does so only at times."""
    never = [comparison.name(row.method) for row in costs if row.reached and row.reached[0] == 0]
    parts = [f"{_listed(never)} never {'does' if len(never) == 1 else 'do'}"] if never else []
    partly = [row for row in costs if row.reached and 0 < row.reached[0] < row.reached[1]]
    parts += [
        f"{comparison.name(row.method)} does in {row.reached[0]} of {row.reached[1]} runs"
        for row in partly[:_FEW_NAMES]
        if row.reached
    ]
    return "".join(f"; {part}" for part in parts)


def _fastest(comparison: Comparison, best: Row) -> str:
    """Return a sentence on time where another method is ahead there, and beyond noise."""
    first = min(_ahead(_rows(comparison, "seconds_to_target")), key=_merit, default=None)
    if first is None or first.method == best.method or first.ratio is None:
        return ""
    less = comparative(first, "less", "more")
    reference = comparison.name(comparison.reference)
    return (
        f" In time {comparison.name(first.method)} is first: {less} than {reference} ({_runs(first.ratio)})."
    )


def _end(comparison: Comparison, best: Row) -> str:
    """Return a sentence on the end of the budget: a target where the reference ends hides who went on."""
    metric = comparison.targets[0].metric
    lowest = min(_ahead(_rows(comparison, metric)), key=_merit, default=None)
    if lowest is None or lowest.method == best.method or lowest.ratio is None:
        return ""
    less = comparative(lowest, "less", "more")
    return (
        f" At the end {comparison.name(lowest.method)} has the smallest {metric}: "
        f"{interval_text(lowest.interval)}, {less} than {comparison.name(comparison.reference)} "
        f"({_runs(lowest.ratio)})."
    )


def _closest(comparison: Comparison) -> str:
    primary = comparison.targets[0].metric
    rows = [row for row in _rows(comparison, primary) if math.isfinite(row.interval.estimate)]
    if not rows:
        return ""
    best = min(rows, key=lambda row: row.interval.estimate)
    return f"; the closest is {comparison.name(best.method)} with {interval_text(best.interval)}"


def _estimators(comparison: Comparison) -> str:
    products = [row for row in _rows(comparison, "variance_x_seconds") if row.interval.estimate > 0]
    exact = [
        comparison.name(row.method) for row in _rows(comparison, "variance") if row.interval.estimate == 0
    ]
    sentences = [f"{_listed(exact)} never varied"] if exact else []
    reference = comparison.name(comparison.reference)
    rivals = [row for row in products if row.method != comparison.reference and row.ratio]
    if rivals:
        best = min(_ahead(rivals) or rivals, key=_merit)
        sentences.insert(0, _efficiency(comparison, best, reference))
    elif products:
        variance = comparison.row(comparison.reference, "variance")
        shown = interval_text(variance.interval) if variance else "unknown"
        sentences.insert(0, f"{reference} has variance {shown}; there is no other method to compare it with")
    sentences.append(_bias(comparison))
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _efficiency(comparison: Comparison, best: Row, reference: str) -> str:
    """Return variance, time a draw and their product for the best method against the reference."""
    name = comparison.name(best.method)
    product = comparative(best, "smaller", "larger")
    if best.ratio is None or product is None:
        return f"{_noise(best)} in variance x time between {reference} and {name}"
    if best.ratio.estimate > 1:
        return (
            f"No method has a smaller variance x time than {reference}; the next, {name}, "
            f"has one {product} ({_runs(best.ratio)})"
        )
    less = comparative(comparison.row(best.method, "variance"), "less variance", "more variance")
    longer = comparative(comparison.row(best.method, "seconds_per_draw"), "less time", "more time")
    spread = f"{less} than" if less else "the same variance within noise as"
    seconds = f"{longer} a draw" if longer else "about the same time a draw"
    runs = _runs(best.ratio)
    return f"{name} has {spread} {reference} and takes {seconds}: variance x time {product} ({runs})"


def _bias(comparison: Comparison) -> str:
    if comparison.biased:
        shown = [
            # a vector's bias is measured from below, so the near end of its interval is what is sure
            f"{comparison.name(method)} is biased by at least "
            f"{figures(min(abs(row.interval.low), abs(row.interval.high)))}"
            for method in comparison.biased[:_FEW_NAMES]
            if (row := comparison.row(method, "bias"))
        ]
        more = len(comparison.biased) - _FEW_NAMES
        return "; ".join([*shown, *([f"and {more} more are biased"] if more > 0 else [])])
    measured = _rows(comparison, "bias")
    if not measured or all(row.interval.count < 2 for row in measured):
        return ""
    return f"No bias beyond noise ({_counted(max(row.interval.count for row in measured), 'run')})"


def _kernels(comparison: Comparison) -> str:
    sentences = []
    for row in _rows(comparison, "seconds_per_call"):
        first = comparison.reference_for(row.method)
        if row.ratio is None and row.method == first:
            size, unit = time_unit([row.interval.estimate])
            shown = interval_text(row.interval.scaled(1 / size), unit)
            sentences.append(f"{row.method.label} takes {shown} a call on {row.method.backend}.")
        elif row.ratio is not None:
            said = comparative(row, "faster", "slower")
            silent = (
                "cannot yet be told from" if row.ratio.count == 2 else "shows no difference beyond noise from"
            )
            verb = f"is {said} than" if said else silent
            sentences.append(f"{row.method.label} on {row.method.backend} {verb} on {first.backend}.")
    return " ".join(sentences[: 2 * _FEW_NAMES]) + (" …" if len(sentences) > 2 * _FEW_NAMES else "")


def _rows(comparison: Comparison, quantity: str) -> list[Row]:
    found = (comparison.row(method, quantity) for method in comparison.methods)
    return [row for row in found if row is not None]


def _merit(row: Row) -> float:
    """Return what to be first in: every quantity that verdicts rank is better when lower."""
    return row.interval.estimate


def _runs(ratio: Interval) -> str:
    if ratio.count == 1:
        return "1 run" if ratio.bounded else "1 run, so no interval"
    return f"{ratio.count} paired runs"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _listed(names: Sequence[str]) -> str:
    """Return 'a, b and c', or the first few and a number."""
    if len(names) > _FEW_NAMES:
        return f"{', '.join(names[:_FEW_NAMES])} and {len(names) - _FEW_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
