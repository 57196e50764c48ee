"""Numbers as they are shown, and names that can do no harm where they are shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.intervals import Interval
from benchfw.report.text import (
    align,
    bound_text,
    factor_text,
    figures,
    flat_facts,
    interval_text,
    join_names,
    plural,
    printable,
    ratio_text,
    sided_end,
    spread_text,
    times_end,
    times_range,
    times_text,
)


def test_what_a_terminal_would_obey_is_written_out_on_one_line():
    assert printable("κ = 10², naïve Größe") == "κ = 10², naïve Größe"
    assert printable("\x1b[31m\u202e\r\nnext\t\udc80") == "\\x1b[31m\\u202e  next \\udc80"


def test_columns_are_as_wide_as_their_widest_cell_and_numbers_stand_to_the_right():
    rows = [("gd", 1.5), ("nesterov", 10)]
    assert list(align(("method", "ratio"), rows, left=1)) == [
        "method    ratio",
        "gd          1.5",
        "nesterov     10",
    ]
    assert list(align(("method", "ratio"), rows))[1:] == ["gd        1.5", "nesterov  10"]


def test_nested_facts_are_flat_pairs():
    facts = {"machine": {"cores": 8, "flags": ["a", "b"]}, "none": {}, "python": "3.12"}
    assert dict(flat_facts(facts)) == {"machine.cores": "8", "machine.flags": "a, b", "python": "3.12"}


def test_one_is_not_many_and_many_names_are_cut():
    assert [plural(1, "trial"), plural(3, "trial")] == ["1 trial", "3 trials"]
    assert join_names(["a", "b", "c"]) == "a, b and c"
    assert join_names(list("abcdefg")) == "a, b, c, d and 3 more"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.01243716, "0.0124"),
        (12.43, "12.4"),
        (1243.7, "1240"),
        (999_600, "1.00e+06"),
        (1.2345e-5, "1.23e-05"),
        (-0.5, "-0.500"),
        (0.0, "0"),
        (math.inf, "∞"),
        (math.nan, "—"),
    ],
)
def test_three_figures(value, text):
    assert figures(value) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(12.43, 12.11, 12.92, 5), "12.4 ms [12.1, 13.0]"),
        (Interval(299_412, 270_833, 300_000, 5), "299000 ms [270000, 300000]"),
        (Interval(8.14e-4, 6.02e-4, 1.1e-3, 5), "8.14e-04 ms [6.02e-04, 1.10e-03]"),
        (Interval(0.411, -0.0001, 0.444, 5), "0.411 ms [-0.001, 0.444]"),
        (Interval(5.0, 4.0, math.inf, 5), "5.00 ms [4.00, ∞]"),
        (Interval(5.2, -math.inf, math.inf, 1), "5.20 ms"),
        (Interval(5.2, 0.0, math.inf, 1), "5.20 ms"),
        (Interval(16.0, 16.0, 16.0, 5), "16 ms"),
    ],
)
def test_an_interval_stands_behind_its_estimate(interval, text):
    assert interval_text(interval, "ms") == text


def test_a_ratio_near_one_gets_a_third_figure():
    assert ratio_text(Interval(2.31, 2.18, 2.59, 5)) == "2.3 [2.1, 2.6]"
    assert ratio_text(Interval(1.03, 1.01, 1.05, 5)) == "1.03 [1.01, 1.05]"
    assert ratio_text(Interval(2.8, 2.7996, 2.8003, 5)) == "2.800 [2.799, 2.801]"  # a narrow one gets more


def test_a_ratio_that_is_not_one_does_not_read_as_one():
    assert ratio_text(Interval(1.7, 1.04, 2.9, 5)) == "1.70 [1.04, 2.90]"
    assert ratio_text(Interval(0.8, 0.5, 0.996, 5)) == "0.800 [0.500, 0.996]"
    assert ratio_text(Interval(1.0001, 1.0001, 1.0001, 5)) == "1.0001"
    assert ratio_text(Interval(1.0, 0.96, 1.004, 5)) == "1.00 [0.96, 1.01]"
    assert ratio_text(Interval(1.3, 1.009, 1.7, 5)) == "1.300 [1.009, 1.700]"
    assert [factor_text(value) for value in (1.004, 1.04, 1.26, 15.9)] == ["1.004", "1.04", "1.2", "15"]


@given(st.floats(1e-12, 1e12), st.integers(1, 4))
def test_a_bound_is_never_rounded_beyond_what_it_bounds(value, count):
    hair = 1e-9 * value
    for sign in (1, -1):
        down, up = (float(figures(sign * value, count, side)) for side in (-1, 1))
        assert down - hair <= sign * value <= up + hair
    shown = interval_text(Interval(2 * value, value, 3 * value, 5), count=count)
    low, high = (float(end) for end in shown.partition("[")[2].rstrip("]").split(","))
    assert low <= value + hair
    assert high >= 3 * (value - hair)
    down, up = (float(sided_end(value, [1.0], side)) for side in (-1, 1))
    assert down <= value + hair <= up + 2 * hair


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_factor_that_would_read_as_one_is_a_percentage():
    assert times_text(Interval(0.5, 0.4, 0.6, 5)) == "2.0 [1.6, 2.5] times"
    assert times_text(Interval(1.05, 1.01, 1.09, 5)) == "1.05 [1.01, 1.09] times"
    assert times_text(Interval(1.003, 1.002, 1.004, 5)) == "0.30 % [0.20, 0.40]"
    assert times_text(Interval(0.997, 0.996, 0.998, 5)) == "0.30 % [0.20, 0.40]"
    assert plain(times_text(Interval(1 - 3e-7, 1 - 3e-7, 1 - 3e-7, 5))) == "3.0 × 10⁻⁵ %"
    assert [times_end(each) for each in (15.9, 1.04, 1.004)] == ["15 times", "1.04 times", "0.39 %"]


def test_a_range_of_factors_does_not_begin_with_one():
    assert times_range(40.0, 250.0) == "40 to 250 times"
    assert times_range(2.0, 2.001) == "2.0 times"
    assert times_range(40.0, math.inf) == "40 or more times"
    assert times_range(1.001, 1.3) == "up to 1.3 times"
    assert times_range(1.001, 1.003) == "0.10 to 0.30 %"


def test_large_and_small_ratios_are_written_as_powers_of_ten():
    shown = ratio_text(Interval(3.14e7, 2.9e7, 3.5e7, 5)).replace("\N{NO-BREAK SPACE}", " ")
    assert shown == "3.1 × 10⁷ [2.9 × 10⁷, 3.5 × 10⁷]"
    assert factor_text(1.29e-12).replace("\N{NO-BREAK SPACE}", " ") == "1.2 × 10⁻¹²"
    assert ratio_text(Interval(250.0, 240.0, 260.0, 5)) == "250 [240, 260]"


def test_bounds_say_at_least_downwards_and_at_most_upwards():
    heavy, light = Interval(3.0, 1.996, math.inf, 5), Interval(0.3, 0.0, 0.9996, 5)
    assert (bound_text(heavy), bound_text(light)) == ("at least 1.9", "at most 0.9996")
    assert spread_text(Interval(1.0, 0.8689, math.inf, 5)) == "at least 0.868"
