"""The verdicts on estimators: mean squared error, variance, time, bias."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.draws import FEWEST_RUNS
from benchfw.analysis.significance import MARGIN
from benchfw.records import Cell
from benchfw.report.text import FEW_NAMES, figures, join_names, plural, ratio_text, spread_text
from benchfw.report.verdicts.phrases import (
    begin_with,
    comparative,
    estimate_of,
    paired_runs,
    rows_ahead,
    rows_of,
    undecided_text,
)
from benchfw.report.verdicts.sweeps import PRODUCTS, is_led, sweep_sentences
from benchfw.summary.model import Comparison, Row


def estimator_verdict(comparison: Comparison) -> str:
    """Return who has the smallest error for its time, whose draws say too little, and who is biased."""
    along = sweep_sentences(comparison)
    first = along if is_led(comparison) else [_ranking(comparison), *along]
    sentences = [*_repeated(comparison), *first, *_scarce(comparison), *_bias(comparison)]
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _ranking(comparison: Comparison) -> str:
    """Return how the best method compares with the reference."""
    product = comparison.product
    reference = comparison.row(comparison.reference, product)
    rivals = [row for row in rows_of(comparison, product) if row.cell != comparison.reference_for(row.cell)]
    if reference is None:
        return ""
    if not rivals:
        return _alone(comparison)
    ahead = rows_ahead(comparison, product)
    compared = [row for row in rivals if comparison.verdict(row.cell, product) is not Verdict.NOT_COMPARABLE]
    best = min(ahead or compared or rivals, key=estimate_of)
    return _efficiency(comparison, best)


def _alone(comparison: Comparison) -> str:
    name = comparison.name(comparison.reference)
    variance = comparison.row(comparison.reference, "variance")
    if variance is None or comparison.reference in comparison.scarce:
        return ""
    failed = len(comparison.cells) > 1
    alone = "no other method finished a run" if failed else "there is no other method to compare it with"
    return f"{begin_with([name])} has variance {spread_text(variance.interval)}; {alone}"


def _efficiency(comparison: Comparison, best: Row) -> str:
    """Return error x time of the best method against the reference's, and what it is made of."""
    name, reference = comparison.name(best.cell), comparison.name(comparison.reference_for(best.cell))
    label = PRODUCTS[best.quantity]
    product = comparative(comparison, best.cell, best.quantity, "smaller", "larger")
    if product is None:
        about = f" in {label} between {reference} and {name}"
        return undecided_text(comparison, best.cell, best.quantity, about)
    runs = paired_runs(comparison, best.cell, best.quantity)
    if comparison.verdict(best.cell, best.quantity) is Verdict.WORSE:
        where = f" at the same {comparison.sweep.parameter}" if comparison.sweep is not None else ""
        return (
            f"No method{where} is shown to have a smaller {label} than {reference}. The next, {name}, "
            f"has one {product} ({runs})"
        )
    variance = _part(comparison, best.cell, "variance", "variance")
    seconds = _part(
        comparison, best.cell, comparison.clocked("seconds_per_draw"), f"{comparison.time} a draw"
    )
    whole = f"{begin_with([name])} has a {label} {product} than {reference} ({runs})"
    biases = _bias_shares(comparison, (comparison.reference_for(best.cell), best.cell))
    return f"{whole}. In parts: {variance}, {seconds}{biases}"


def _bias_shares(comparison: Comparison, cells: Sequence[Cell]) -> str:
    """Return ', and 65 % of the squared error of cut is bias', of those with a bias that counts."""
    shares = {cell: _bias_share(comparison, cell) for cell in cells}
    named = [
        f"{figures(100 * share, 2, -1)} % of the squared error of {comparison.name(cell)}"
        for cell, share in shares.items()
        if share > 1 - 1 / MARGIN
    ]
    return f", and {join_names(named)} {'is' if len(named) == 1 else 'are'} bias" if named else ""


def _bias_share(comparison: Comparison, cell: Cell) -> float:
    """Return which share of a method's mean squared error is not variance; 0 where no bias was found."""
    error, variance = comparison.row(cell, "mse"), comparison.row(cell, "variance")
    if error is None or variance is None or cell not in comparison.biased:
        return 0.0
    return 1 - variance.interval.estimate / error.interval.estimate


def _part(comparison: Comparison, cell: Cell, quantity: str, noun: str) -> str:
    """Return '1.4 [1.2, 1.6] times more time a draw', or in which words the two do not differ."""
    said = comparative(comparison, cell, quantity, f"less {noun}", f"more {noun}")
    if said is not None:
        return said
    decision = comparison.decision(cell, quantity)
    if decision.verdict is Verdict.NOT_COMPARABLE or decision.interval is None:
        return f"{noun} not comparable"
    words = "equal within 10 % in" if decision.verdict is Verdict.EQUAL else "no difference beyond noise in"
    return f"{words} {noun} (ratio {ratio_text(decision.interval)})"


def _repeated(comparison: Comparison) -> Iterator[str]:
    """Yield who drew the same numbers in every run, so that its runs are one."""
    if comparison.repeated:
        runs = plural(max(comparison.tallies[cell].started for cell in comparison.repeated), "run")
        one = len(comparison.repeated) == 1
        subject, verb, whose = ("it", "does", "its") if one else ("they", "do", "their")
        names = begin_with([comparison.name(cell) for cell in comparison.repeated])
        yield (
            f"{names} drew the same numbers in all {runs}: {subject} {verb} not use the random generator of "
            f"the run, so {whose} runs count as one"
        )


def _scarce(comparison: Comparison) -> Iterator[str]:
    """Yield whose draws never varied, or varied too seldom to say anything about the variance."""
    constant = [row.cell for row in rows_of(comparison, "variance") if row.interval.estimate == 0]
    right = [cell for cell in constant if not _offset(comparison, cell)]
    if right:
        yield f"{begin_with([comparison.name(cell) for cell in right])} never varied beyond rounding"
    wrong = [cell for cell in constant if cell not in right]
    if wrong:
        sizes = [f"{comparison.name(cell)} by {_offset(comparison, cell)}" for cell in wrong]
        yield f"Never varied beyond rounding, but was off: {join_names(sizes)}"
    broken = [f"{comparison.name(cell)} in {part} of {runs} runs" for cell, part, runs in _broken(comparison)]
    if broken:
        yield f"Did not finish: {join_names(broken)}"
    others = [cell for cell in comparison.scarce if cell not in constant]
    if others:
        yield f"Too few draws carry the variance of {_names(comparison, others)} to say anything about it"


def _broken(comparison: Comparison) -> Iterator[tuple[Cell, int, int]]:
    """Yield the methods with runs that did not finish, how many those are, and of how many."""
    for cell in comparison.cells:
        unfinished, runs = comparison.runs(cell)
        if unfinished:
            yield cell, unfinished, runs


def _offset(comparison: Comparison, cell: Cell) -> str:
    """Return by how much the one value that was drawn is off; nothing where it is right or not known."""
    row = comparison.row(cell, "bias")
    return figures(abs(row.interval.estimate)) if row and row.interval.estimate else ""


def _bias(comparison: Comparison) -> Iterator[str]:
    """Yield whose mean is off, and whose draws cannot tell: rarer ones may be missing."""
    broken = [cell for cell in comparison.biased if cell in comparison.claims]
    frank = [cell for cell in comparison.biased if cell not in comparison.claims]
    if broken:
        rare = _rarer(comparison, broken)
        yield f"Claimed to be unbiased, but the mean is off: {_off(comparison, broken)}, unless {rare}"
    if frank:
        yield f"The mean is off: {_off(comparison, frank)}"
    varied = {row.cell for row in rows_of(comparison, "variance") if row.interval.estimate > 0}
    unsure = [
        row.cell
        for row in rows_of(comparison, "bias")
        if row.cell in comparison.narrow and row.cell in varied
        if row.interval.count >= FEWEST_RUNS and not comparison.runs(row.cell)[0]
    ]
    if unsure:
        yield f"Too few draws carry the variance of {_names(comparison, unsure)} to test for a bias"
    fair = [cell for cell in comparison.tested if cell not in comparison.biased]
    if fair:
        alone = len(fair) == len(rows_of(comparison, "bias"))
        claimed = alone and all(cell in comparison.claims for cell in fair)
        counts = plural(max(comparison.tallies[cell].trials for cell in fair), "run")
        where = "" if alone else " in the others"
        yield f"No bias beyond noise{where} ({counts}){', as claimed' if claimed else ''}"


def _rarer(comparison: Comparison, cells: Sequence[Cell]) -> str:
    """Return what no sample excludes: rarer draws than would probably be among those of all runs.

    An event of 3 in n is among n draws with a chance of 95 %.
    """
    fewest = min(comparison.draws[cell] for cell in cells)
    return f"draws rarer than 1 in {max(1, fewest // 3):,} make up for it"


def _off(comparison: Comparison, cells: Sequence[Cell]) -> str:
    """Return names and sizes: a vector's bias is measured from below, so the near end is what is sure."""
    shown = []
    for cell in cells[:FEW_NAMES]:
        near = min(abs(comparison.biased[cell].low), abs(comparison.biased[cell].high))
        shown.append(f"{comparison.name(cell)} by at least {figures(near, side=-1)}")
    more = len(cells) - FEW_NAMES
    return join_names([*shown, f"{more} more"] if more > 0 else shown)


def _names(comparison: Comparison, cells: Sequence[Cell]) -> str:
    return join_names([comparison.name(cell) for cell in cells])
