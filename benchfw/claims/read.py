"""Reads [[claim]] tables; every mistake is one sentence that names the table, and what would be right."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchfw.claims import (
    AT_THE_END,
    MARGIN,
    MEASURED_ALONG,
    MOST_RUNS,
    PAIRED,
    QUANTIFIED,
    QUANTITIES,
    TESTS,
    WHEN_DONE,
    Claim,
    Range,
    Test,
    metric_of,
)
from benchfw.errors import SuiteError, nearest
from benchfw.records import LONGEST_TEXT, shorten

MOST_SHOWN = 200  # characters of what is wrong: a table may be somebody else's

KEYS = frozenset({
    "says", "source", "method", "than", "quantity", "problem", "across", "metric", "law", "margin", "quick",
    *TESTS,
})  # fmt: skip

AT_MOST_THE_BOUND = Range(high=math.nextafter(1.0, 2.0))
"""Of the ratio to a bound: at the start the two are often equal, in every run."""


def read_claim(table: Mapping[str, Any], place: str, elsewhere: Collection[str] = ()) -> Claim:
    """Return the claim of a table; every mistake is a SuiteError.

    `elsewhere` are the keys that a suite has above its tables.
    """
    _check_texts(table, place, elsewhere)
    tests = [test for test in TESTS if test in table]
    if len(tests) != 1:
        which = f"has {' and '.join(tests)}" if tests else "says nothing that can be decided"
        raise SuiteError(f"{place}: {which}; give one of {', '.join(TESTS)}")
    test = tests[0]
    _check_company(table, test, place)
    read = {"order": _read_order, "bound": _read_bound, "unbiased": _read_unbiased, "reaches": _read_reaches}
    if test == "untestable":
        own: dict[str, Any] = {"reason": table[test]}
    elif test in read:
        own = read[test](table, place)
    else:
        own = {"inside": _read_range(table[test], f"{place}, {test}")}
    quantity = table.get("quantity", "")
    claim = Claim(
        **{
            "says": table["says"].strip(),
            "test": test,
            "methods": _read_labels(table, "method", place),
            "than": table.get("than", ""),
            "quantity": quantity,
            "problems": _read_labels(table, "problem", place),
            "across": table.get("across") == "problems",
            "metric": table.get("metric", ""),
            "law": table.get("law", "sublinear"),
            "quick": table.get("quick", True),
            "source": table.get("source", ""),
            "table": dict(table),
            **own,
        }
    )
    _check_possible(claim, place)
    return claim


def _check_texts(table: Mapping[str, Any], place: str, elsewhere: Collection[str]) -> None:
    """Raise a SuiteError for a key that no claim has, or a text that is none."""
    for key in table:
        if key in elsewhere and key not in KEYS:
            raise SuiteError(f"{place}: '{key}' is a key of the suite; move it above the first [[table]]")
        if key not in KEYS:
            raise SuiteError(f"{place}: unknown key '{shorten(key, MOST_SHOWN)}'{nearest(key, KEYS)}")
    for key in ("says", "source", "than", "quantity", "metric", "untestable"):
        if key in table and not (isinstance(table[key], str) and table[key].strip()):
            raise SuiteError(f"{place}: '{key}' must be a text, got {_show(table[key])}")
        if len(str(table.get(key, ""))) > LONGEST_TEXT:
            raise SuiteError(f"{place}: '{key}' is too long; write at most {LONGEST_TEXT} characters")
    if "says" not in table:
        raise SuiteError(f"{place}: 'says' is missing; write the claim as a sentence")
    if not isinstance(table.get("quick", True), bool):
        raise SuiteError(f"{place}: quick must be true or false, got {_show(table['quick'])}")


def _check_company(table: Mapping[str, Any], test: Test, place: str) -> None:
    """Raise a SuiteError for a key that a test needs and lacks, or has and does not need."""
    wanted = {
        "method": test not in ("order", "untestable"),
        "than": test in PAIRED,
        "quantity": test in QUANTIFIED,
    }
    for key, needed in wanted.items():
        if needed and key not in table:
            raise SuiteError(f"{place}: '{test}' needs '{key}'")
    allowed = {
        "method": wanted["method"],
        "than": wanted["than"],
        "quantity": wanted["quantity"],
        "metric": test in MEASURED_ALONG,
        "law": test == "rate",
        "margin": test == "unbiased",
        "across": test in (*QUANTIFIED, "rate"),
    }
    for key, fine in allowed.items():
        if key in table and not (fine or test == "untestable"):
            raise SuiteError(f"{place}: '{key}' does not go with '{test}'; remove it")
    if table.get("law", "linear") not in ("sublinear", "linear"):
        raise SuiteError(f'{place}: law must be "sublinear" or "linear", got {_show(table["law"])}')
    if table.get("across", "problems") != "problems":
        raise SuiteError(f'{place}: across must be "problems", got {_show(table["across"])}')
    if "than" in table and table["than"] in _read_labels(table, "method", place):
        raise SuiteError(f"{place}: '{table['than']}' is compared with itself; 'than' names another method")


def _read_range(value: Any, place: str) -> Range:
    keys = ("below", "above", "within")
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in keys:
        raise SuiteError(f"{place}: must be {{ below = … }}, {{ above = … }} or {{ within = [from, to] }}, "
                         f"got {_show(value)}")  # fmt: skip
    ((key, end),) = value.items()
    if key == "within":
        if not isinstance(end, Sequence) or len(end) != 2 or not all(map(_is_number, end)):
            raise SuiteError(f"{place}: within must be two numbers, as in [0.9, 1.1], got {_show(end)}")
        if not end[0] < end[1]:
            raise SuiteError(
                f"{place}: nothing is within {end[0]!r} to {end[1]!r}; the lower end comes first"
            )
        return Range(float(end[0]), float(end[1]))
    if not _is_number(end):
        raise SuiteError(f"{place}: {key} must be a finite number, got {_show(end)}")
    return Range(high=float(end)) if key == "below" else Range(low=float(end))


def _check_possible(claim: Claim, place: str) -> None:
    """Raise a SuiteError for a quantity that nothing has, or a range that a quantity cannot miss or be in."""
    quantity = claim.quantity
    if quantity and quantity not in QUANTITIES and not metric_of(quantity):
        known = [*QUANTITIES, f"NAME{AT_THE_END}", f"NAME{WHEN_DONE}"]
        raise SuiteError(f"{place}: unknown quantity '{quantity}'{nearest(quantity, known)}")
    if quantity.endswith(WHEN_DONE) and not claim.than:
        raise SuiteError(
            f"{place}: '{quantity}' is at the end of the run of 'than', and a {claim.test} has none; claim a "
            "ratio or a difference"
        )
    if quantity == "bias" and claim.test != "value":
        raise SuiteError(f"{place}: a bias has no {claim.test}; claim its 'value', or 'unbiased'")
    positive = claim.test == "ratio" or (claim.test == "rate" and claim.law == "linear")
    positive = positive or (claim.test == "value" and quantity in QUANTITIES and quantity != "bias")
    if positive and claim.inside.high <= 0:
        raise SuiteError(f"{place}: a {claim.test} is never {claim.inside}; it is positive")
    if positive and claim.inside.two_ended and claim.inside.low < 0:
        raise SuiteError(f"{place}: a {claim.test} is positive, and the range {claim.inside} begins below 0")
    if positive and not claim.inside.two_ended and claim.inside.high == math.inf and claim.inside.low <= 0:
        raise SuiteError(f"{place}: every {claim.test} is {claim.inside}; the claim says nothing")


def _read_order(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    names = table["order"]
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) < 2:
        raise SuiteError(f"{place}: order must be a list of methods, the best first, got {_show(names)}")
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise SuiteError(f"{place}: order must name each method once, got {_show(names)}")
    return {"methods": tuple(names), "inside": Range(high=1.0)}


def _read_bound(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    if table["bound"] is not True and table["bound"] != "mean":
        raise SuiteError(
            f'{place}: bound must be true (in every run) or "mean" (the mean of the runs), '
            f"got {_show(table['bound'])}"
        )
    mean = table["bound"] == "mean"
    return {"every": not mean, "inside": AT_MOST_THE_BOUND if mean else MOST_RUNS}


def _read_unbiased(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    margin = table.get("margin", MARGIN)
    if not isinstance(table["unbiased"], bool):
        raise SuiteError(f"{place}: unbiased must be true or false, got {_show(table['unbiased'])}")
    if not _is_number(margin) or margin <= 0:
        raise SuiteError(f"{place}: margin must be a positive number, got {_show(margin)}")
    return {
        "margin": float(margin),
        "inside": Range(-float(margin), float(margin)),
        "unbiased": table["unbiased"],
    }


def _read_reaches(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    value = table["reaches"]
    if isinstance(value, bool):
        return {"inside": MOST_RUNS if value else Range(high=0.5)}
    if not isinstance(value, Mapping):
        raise SuiteError(
            f"{place}: reaches must be true, false or a share of the runs, as in {{ above = 0.8 }}, "
            f"got {_show(value)}"
        )
    share = _read_range(value, f"{place}, reaches")
    ends = [each for each in (share.low, share.high) if math.isfinite(each)]
    if not all(0 < each < 1 for each in ends) and not (share.two_ended and ends[0] >= 0 and ends[1] <= 1):
        raise SuiteError(f"{place}, reaches: a share of the runs lies between 0 and 1, got {_show(value)}")
    return {"inside": share, "every": False}


def _read_labels(table: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    """Return the labels of a key that takes one or a list of them; nothing where it is missing."""
    value = table.get(key, ())
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
    if key in table and not (names and all(isinstance(name, str) and name.strip() for name in names)):
        raise SuiteError(f"{place}: '{key}' must be a label of a {key} or a list of them, got {_show(value)}")
    if len(set(names)) < len(names):
        raise SuiteError(f"{place}: '{key}' must name each {key} once, got {_show(value)}")
    return names


def _show(value: Any) -> str:
    return shorten(repr(value), MOST_SHOWN)


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, float) and math.isfinite(value)
