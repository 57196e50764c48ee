"""Every claim that has a verdict is drawn beside what is claimed, on an axis that means something for it."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure

from benchfw.analysis.claims import Part, Standing, decide_claims
from benchfw.analysis.estimates import Measured, Runs, Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Range, Subject
from benchfw.claims.read import read_claim
from benchfw.summary.claims.reader import ClaimResult
from benchfw_site.findings import Finding
from benchfw_site.interval_plot import Measure, draw_intervals, draw_panel, find_rows

SVG = {"s": "http://www.w3.org/2000/svg"}
SPREAD = np.linspace(-0.05, 0.05, 10)
PAIR, END = {"method": "a", "than": "b"}, {"quantity": "loss at the end"}
ONE, COST = {"method": "a"}, {"quantity": "cost to target"}


def runs(middle, *, logs=False):
    values = (math.log(middle) if logs else middle) + SPREAD
    return Runs(values, values, values, logs=logs)


def never(ratio):
    """Ratios of which only a lower end is known."""
    return Runs(np.full(10, math.log(ratio)), np.full(10, math.inf), np.full(10, math.inf))


def unknown(middle=1.0, *, logs=True):
    """Numbers of which neither end is known."""
    middles = np.full(10, math.log(middle) if logs else middle)
    return Runs(np.full(10, -math.inf), np.full(10, math.inf), middles, logs=logs)


def bias(*numbers):
    return Measured(lambda _: Interval(*numbers, 9), 9)


def finding(table, estimate):
    claim = read_claim({"says": "a & b", **table}, "here")
    denied = {"disproof": Range(0.0, 0.0), "denied": not claim.unbiased} if claim.test == "unbiased" else {}
    (decided,) = decide_claims([[Part("", claim.inside, estimate, subject=Subject(claim.names), **denied)]])
    return Finding("suite", claim, decided.standing, "", result=ClaimResult(claim, decided))


CASES = {
    "ratio": ({**PAIR, **COST, "ratio": {"below": 0.5}}, runs(0.25, logs=True), "multiple", 0.5, "holds"),
    "never": ({**PAIR, **COST, "ratio": {"below": 0.5}}, never(4), "multiple", math.inf, "refuted"),
    "cost": ({**ONE, **COST, "value": {"above": 50}}, runs(100, logs=True), "multiple", 2, "holds"),
    "difference": ({**PAIR, **END, "difference": {"below": -2}}, runs(-1), "multiple", 0.5, "refuted"),
    "share": ({**ONE, "reaches": True}, Share(10, 10, every=True), "share", 1, "holds"),
    "bias": ({**ONE, "unbiased": True}, bias(0.05, 0, 0.08), "position", 0.5, "holds"),
    "from 0": ({**PAIR, **END, "difference": {"above": 0}}, runs(1), "distance", None, "holds"),
    "other sign": ({**PAIR, **END, "difference": {"above": 2}}, runs(-1), "distance", None, "refuted"),
    "metric": ({**ONE, **END, "value": {"below": 1376}}, runs(1375), "distance", None, "holds"),
    "is biased": ({**ONE, "unbiased": False}, bias(0.3, 0.1, 0.5), "distance", 1.5, "holds"),
    "exact": ({**ONE, **END, "value": {"above": 1}}, Runs(*[np.full(9, 2.0)] * 3, logs=False),
              "distance", math.inf, "holds"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_claim_with_a_verdict_has_a_row_whose_mark_is_inside_what_is_claimed_if_it_holds(case):
    table, estimate, measure, place, standing = CASES[case]
    (row,) = find_rows([(case, finding(table, estimate))])
    assert (row.measure.name.lower(), row.standing) == (measure, standing)
    if place is not None:
        assert row.found.estimate == pytest.approx(place)
    middle = row.found.estimate
    if table.get("unbiased") is not False:  # what is not 0 may lie on either side
        assert (row.claimed.low <= middle <= row.claimed.high) is (row.standing is Standing.HOLDS)


def test_a_distance_is_in_half_widths_of_the_interval():
    (row,) = find_rows([("", finding(*CASES["from 0"][:2]))])
    assert (row.found.high - row.found.low) / 2 == pytest.approx(1)
    found = row.found.estimate
    (twice,) = find_rows([("", finding(CASES["from 0"][0], runs(2)))])
    assert twice.found.estimate == pytest.approx(2 * found)


def test_rows_are_drawn_below_the_axis_of_their_measure_and_inside_the_picture():
    rows = find_rows([(name, finding(*case[:2])) for name, case in CASES.items()])
    assert len(rows) == len(CASES)
    drawing = ET.fromstring(draw_intervals(rows, "A <title>"))
    texts = [each.text for each in drawing.iterfind(".//s:text", SVG)]
    order = [each.name.lower() for each in Measure]
    assert [each for each in texts if each in list(Measure)] == list(Measure)
    assert [each for each in texts if each in CASES] == sorted(
        CASES, key=lambda name: order.index(CASES[name][2])
    )
    assert {"holds", "refuted", "undecided", "claimed"} <= set(texts)
    for measure in Measure:
        axes = panel(*(row for row in rows if row.measure is measure))
        low, high = axes.get_xlim()
        for line in axes.lines:
            assert low <= min(line.get_xdata()) <= max(line.get_xdata()) <= high


def test_a_claim_that_was_not_decided_by_a_number_has_no_row():
    assert not find_rows([("", finding({**PAIR, **COST, "ratio": {"below": 1}}, None))])


def only_row(table, estimate):
    (row,) = find_rows([("", finding(table, estimate))])
    return row


def panel(*rows):
    """Return axes of matplotlib with these rows."""
    axes = Figure().add_subplot()
    draw_panel(axes, rows)
    return axes


def tick_labels(row):
    """Return what is written along the axis of the only row."""
    return [each.get_text() for each in panel(row).get_xticklabels()]


@pytest.mark.parametrize(
    ("table", "estimate", "marks"),
    [
        ({**PAIR, **COST, "ratio": {"below": 0.5}}, unknown(), 0),
        ({**PAIR, **COST, "ratio": {"within": [0.5, 2]}}, unknown(), 0),
        ({**PAIR, **END, "difference": {"above": 0}}, unknown(logs=False), 0),
        ({**ONE, "reaches": True}, Share(0, 10, every=True, unsure=10), 0),
        ({**PAIR, **COST, "ratio": {"below": 0.5}}, never(0.1), 1),
        ({**ONE, "reaches": True}, Share(1, 10, every=True, unsure=9), 1),
    ],
)
def test_an_interval_with_neither_end_known_has_no_mark(table, estimate, marks):
    row = only_row(table, estimate)
    assert row.standing is Standing.UNDECIDED
    line, *marked = panel(row).lines
    assert len(line.get_xdata()) == 2
    assert len(marked) == marks


def test_what_is_not_drawn_does_not_widen_the_axis():
    row = only_row({**PAIR, **COST, "ratio": {"below": 0.5}}, unknown(1e-3))
    assert tick_labels(row)[0] == "0.1"


@pytest.mark.parametrize(
    ("table", "estimate", "ends"),
    [
        ({**ONE, "reaches": {"above": 0.9}}, Share(5, 10), [0.9]),
        ({**ONE, "reaches": {"within": [0.2, 0.6]}}, Share(5, 10), [0.2, 0.6]),
        (*CASES["ratio"][:2], [1]),
        ({**PAIR, **COST, "ratio": {"within": [0.5, 2]}}, runs(1, logs=True), [0.5, 2]),
        (*CASES["bias"][:2], [-1, 1]),
        (*CASES["metric"][:2], [0]),
        (*CASES["is biased"][:2], [0]),
    ],
)
def test_a_line_is_at_each_end_of_what_is_claimed(table, estimate, ends):
    (lines,) = (each for each in panel(only_row(table, estimate)).collections)
    assert [segment[0][0] for segment in lines.get_segments()] == pytest.approx(ends)


@pytest.mark.parametrize(
    ("table", "estimate", "labels"),
    [
        ({**PAIR, **COST, "ratio": {"below": 1}}, runs(3), ("0.1", "10")),
        ({**PAIR, **COST, "ratio": {"below": 1}}, runs(30), ("0.01", "100")),
        ({**PAIR, **COST, "ratio": {"below": 1}}, runs(3e7), ("0.001", "1000")),
        ({**PAIR, **END, "difference": {"above": 0}}, runs(0), ("-2", "2")),
        ({**PAIR, **END, "difference": {"above": 0}}, runs(1e6), ("-10", "10")),
    ],
)
def test_an_axis_reaches_what_was_found_up_to_three_decades_or_ten_half_widths(table, estimate, labels):
    found = tick_labels(only_row(table, estimate))
    assert (found[0], found[-1]) == labels


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_distance_of_which_one_end_is_known_is_in_widths_up_to_that_end(sign):
    infinite = np.full(10, sign * math.inf)
    low, high = sorted([3 + SPREAD, infinite], key=np.max)
    row = only_row({**PAIR, **END, "difference": {"above": 0}}, Runs(low, high, 3 + SPREAD, logs=False))
    known = row.found.low if sign > 0 else row.found.high
    assert row.found.estimate - known == pytest.approx(sign)
    assert math.isinf(row.found.high if sign > 0 else row.found.low)


def test_multiples_of_a_range_are_those_of_its_geometric_middle():
    row = only_row({**PAIR, **COST, "ratio": {"within": [0.1, 10]}}, runs(2, logs=True))
    assert row.found.estimate == pytest.approx(2)
    assert (row.claimed.low, row.claimed.high) == pytest.approx((0.1, 10))
