"""Every claim that has a verdict is drawn beside what is claimed, on an axis that means something for it."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from benchfw.analysis.claims import Part, Standing, decide_claims
from benchfw.analysis.estimates import Measured, Runs, Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Range, Subject
from benchfw.claims.read import read_claim
from benchfw.report.site.findings import Finding
from benchfw.report.site.interval_plot import LEFT, RIGHT, WIDTH, Measure, draw_intervals, find_rows
from benchfw.summary.claims.reader import ClaimResult

SPREAD = np.linspace(-0.05, 0.05, 10)
PAIR, END = {"method": "a", "than": "b"}, {"quantity": "loss at the end"}
ONE, COST = {"method": "a"}, {"quantity": "cost to target"}


def runs(middle, *, logs=False):
    values = (math.log(middle) if logs else middle) + SPREAD
    return Runs(values, values, values, logs=logs)


def never(ratio):
    """Ratios of which only a lower end is known."""
    return Runs(np.full(10, math.log(ratio)), np.full(10, math.inf), np.full(10, math.inf))


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
    texts = [each.text for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert [each for each in texts if each in list(Measure)] == list(Measure)
    assert [each for each in texts if each in CASES] == sorted(
        CASES, key=lambda name: [each.name.lower() for each in Measure].index(CASES[name][2])
    )
    for line in drawing.iter("{http://www.w3.org/2000/svg}line"):
        assert LEFT <= float(line.get("x1")) <= float(line.get("x2")) <= WIDTH - RIGHT


def test_a_claim_that_was_not_decided_by_a_number_has_no_row():
    assert not find_rows([("", finding({**PAIR, **COST, "ratio": {"below": 1}}, None))])
