"""From paired values to evidence: what is known of each pair, and so which test judges them."""

from __future__ import annotations

import numpy as np

from benchfw.analysis.evidence import PairedDifferences, PairedLogs, PairedSigns
from benchfw.analysis.intervals import Floats, Values

ROUNDING = 1e-12
"""Two numbers that differ by less than this part of them are the same."""

_LEAST = 5e-324  # a logarithm of which the side is all that is known


def pair(values: Values, reference: Values) -> PairedLogs | PairedSigns | None:
    """Return the evidence of paired values, neither negative; +inf stands for never.

    A pair of two that never arrive says nothing. None where nothing is left.
    """
    return pair_brackets(values, values, reference, reference)


def pair_brackets(
    low: Values,
    high: Values,
    reference_low: Values,
    reference_high: Values,
    pairs: tuple[Values, Values] | None = None,
) -> PairedLogs | PairedSigns | None:
    """Return the evidence of paired values of which each is known to lie between two numbers.

    `pairs` are where the values probably are, those of the reference second. A value that may be 0 has no
    logarithm, and how low its upper end is says nothing: such pairs have a side at most, and so the signs of
    all are judged. Numbers that agree up to rounding have a ratio of 1.
    """
    under, over, start, end = (
        np.asarray(each, dtype=np.float64) for each in (low, high, reference_low, reference_high)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        from_below, from_above = _log_ratio(under, end), _log_ratio(over, start)
        probable = None if pairs is None else _log_ratio(*pairs)
    if np.any(under == 0) or np.any(start == 0):
        from_above = np.where(under == 0, np.where(from_above < 0, -_LEAST, np.inf), from_above)
        from_below = np.where(start == 0, np.where(from_below > 0, _LEAST, -np.inf), from_below)
        sides = np.where(from_below > 0, np.inf, np.where(from_above < 0, -np.inf, 0.0))
        with np.errstate(invalid="ignore"):
            middle = np.where((under > 0) & (start > 0), (from_below + from_above) / 2, sides)
        return PairedSigns(from_below, from_above, middle)
    # of two that never arrive nothing is known: the pair may be on either side
    known = np.isfinite(from_below) | np.isfinite(from_above) | (from_below == from_above)
    if not np.any(known):
        return None
    from_below, from_above = np.where(known, from_below, -np.inf), np.where(known, from_above, np.inf)
    if np.all(np.isfinite(from_below) & (from_above > -np.inf)) or np.all(
        np.isfinite(from_above) & (from_below < np.inf)
    ):
        # where one end is all that is known, what was seen says nothing more
        seen = np.all(np.isfinite([from_below, from_above]))
        return PairedLogs(from_below, from_above, probable if seen else None)
    return PairedSigns(from_below, from_above)


def _log_ratio(values: Values, reference: Values) -> Floats:
    logs = np.log(values) - np.log(reference)
    return np.where(np.abs(logs) <= ROUNDING, 0.0, logs)


def pair_differences(values: Values, reference: Values) -> PairedDifferences | None:
    """Return the evidence of paired numbers that may be negative; None where some run has none.

    Numbers that agree up to rounding have a difference of 0.
    """
    mine, theirs = (np.asarray(each, dtype=np.float64) for each in (values, reference))
    if len(mine) == 0 or not np.all(np.isfinite(mine) & np.isfinite(theirs)):
        return None
    apart = mine - theirs
    apart = np.where(np.abs(apart) > ROUNDING * np.maximum(np.abs(mine), np.abs(theirs)), apart, 0.0)
    return PairedDifferences(apart, apart)
