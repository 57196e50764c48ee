"""An interval decides a claim by the ends that the claimed range has, and by no others."""

import math

import numpy as np

from benchfw.analysis.claims import Largest, Part, Runs, Standing, decide_claims, lies_inside
from benchfw.analysis.intervals import Interval
from benchfw.claims import Range


def test_an_end_that_the_range_does_not_have_may_be_unknown():
    assert lies_inside(Interval(0.1, -math.inf, 0.2, 10), Range(high=1.0))
    assert not lies_inside(Interval(0.1, -math.inf, 0.2, 10), Range(-1.0, 1.0))
    assert lies_inside(Interval(3.0, 2.0, math.inf, 10), Range(low=1.0))
    assert not lies_inside(Interval(3.0, 2.0, math.inf, 10), Range(high=4.0))


def test_ten_runs_show_that_a_long_curve_stays_below_its_bound():
    """One of 40 looks has too small a share of the error for a lower end of its own."""
    curves = np.random.default_rng(0).uniform(0.1, 0.2, (40, 10))
    parts = tuple(Runs(each, each, each, logs=False, paired=False) for each in curves)
    (found,) = decide_claims([[Part("", Range(high=1.0), Largest(parts))]])
    assert found.standing is Standing.HOLDS
