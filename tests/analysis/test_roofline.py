"""The floor of the hardware, the share of it that is reached, and break-even sizes, computed by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis.intervals import Interval
from benchfw.analysis.roofline import Ceilings, break_even, floor_seconds, fraction_of_limit

# 100 operations and, from large working sets, 10 bytes a second; a cache gives up to 40
CEILINGS = Ceilings(100.0, (1_000, 4_000, 16_000), (30.0, 40.0, 10.0))
SIZES = (10.0, 100.0, 1000.0, 10_000.0)


def test_the_bandwidth_is_the_best_of_working_sets_as_large_or_larger():
    assert CEILINGS.bandwidth(500) == 40.0  # the call, not the cache, slows the smallest copy
    assert CEILINGS.bandwidth(4_000) == 40.0
    assert CEILINGS.bandwidth(4_001) == 10.0
    assert CEILINGS.bandwidth(10**9) == 10.0


def test_the_dearer_one_of_operations_and_bytes_is_the_limit():
    assert floor_seconds(flops=100.0, moved=50.0, flop_rate=100.0, bandwidth=10.0) == (5.0, "memory")
    assert floor_seconds(flops=1000.0, moved=50.0, flop_rate=100.0, bandwidth=10.0) == (10.0, "arithmetic")


def test_the_share_of_the_limit_turns_the_interval_of_the_seconds_round():
    share = fraction_of_limit(Interval(4.0, 2.0, 8.0, 30), floor=1.0)
    assert share == Interval(0.25, 0.125, 0.5, 30)


@given(st.floats(1e-9, 1e-3), st.floats(0.2, 3.0), st.floats(-1.0, 0.1), st.floats(1.0, 4.0))
def test_the_break_even_of_two_powers_of_the_size_is_exact(scale, power, other_power, where):
    crossing = 10.0**where
    seconds = [scale * size**power for size in SIZES]
    other = [scale * crossing ** (power - other_power) * size**other_power for size in SIZES]
    found = break_even(SIZES, seconds, other)
    if crossing < SIZES[0] * (1 - 1e-9):
        assert found == 0.0
    elif SIZES[0] * (1 + 1e-9) < crossing < SIZES[-1] * (1 - 1e-9):
        assert found == pytest.approx(crossing)


def test_a_device_with_a_constant_cost_breaks_even_where_the_host_costs_as_much():
    # the host takes 2e-9 n seconds, the device 1e-6 always: equal at n = 500
    assert break_even(SIZES, [2e-9 * n for n in SIZES], [1e-6] * 4) == pytest.approx(500.0)


def test_always_faster_is_zero_and_never_is_infinity():
    assert break_even(SIZES, [2.0] * 4, [1.0] * 4) == 0.0
    assert break_even(SIZES, [1.0] * 4, [2.0] * 4) == math.inf
    assert break_even(SIZES, [1.0] * 4, [1.0] * 4) == math.inf


def test_a_win_that_does_not_last_is_not_the_break_even():
    assert break_even(SIZES, [4.0, 1.0, 4.0, 4.0], [1.0, 4.0, 1.0, 1.0]) == pytest.approx(100 * 10**0.5)
    assert break_even(SIZES, [4.0, 4.0, 4.0, 1.0], [1.0, 1.0, 1.0, 4.0]) == math.inf


def test_no_size_has_no_break_even():
    assert math.isnan(break_even((), (), ()))
