"""What follows from the seconds and facts of kernels, against hand computation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.records import Cell
from benchfw.summary.kernels import break_even, break_evens, floor_of, floor_seconds
from benchfw.summary.summarize import summarize

SIZES = (10.0, 100.0, 1000.0, 10_000.0)
FACTS = {
    "flops_per_call": 100.0, "bytes_per_call": 20.0, "ceiling_flops_per_second": 100.0,
    "ceiling_bytes_per_second": 10.0, "argument_bytes": 80.0, "peak_bytes": 160.0,
}  # fmt: skip


def row_of(comparison, quantity, cell=None):
    return comparison.row(cell or comparison.cells[0], quantity)


def test_rates_share_of_the_limit_and_memory_follow_from_the_median_and_the_facts(make, run):
    (comparison,) = summarize(run, [make.timing("sum", 10, "numpy", 8.0, FACTS)]).comparisons
    found = {row.quantity: row.interval.estimate for row in comparison.rows}
    assert found["flops_per_second"] == pytest.approx(12.5)
    assert found["bytes_per_second"] == pytest.approx(2.5)
    assert (found["floor_seconds"], found["bytes_held"]) == (2.0, 240.0)
    assert found["fraction_of_limit"] == pytest.approx(0.25)
    assert floor_of(comparison, comparison.cells[0]) == (2.0, "memory")


def test_without_counts_there_is_no_floor(make, run):
    (comparison,) = summarize(run, [make.timing("sum", 10, "numpy", 8.0)]).comparisons
    assert {row.quantity for row in comparison.rows} == {"seconds_per_call"}
    assert floor_of(comparison, comparison.cells[0]) is None


def test_a_kernel_at_several_sizes_is_one_comparison_and_at_one_size_all_kernels_are(make, run):
    both = [make.timing(name, 10, "numpy", 1.0) for name in ("sum", "dot")]
    assert [each.problem for each in summarize(run, both).comparisons] == ["size 10"]
    wider = [*both, make.timing("sum", 20, "numpy", 2.0)]
    comparisons = summarize(run, wider).comparisons
    assert [(each.problem, len(each.cells)) for each in comparisons] == [("sum", 2), ("dot", 1)]
    assert all(each.by_size for each in comparisons)
    assert [comparisons[0].name(cell) for cell in comparisons[0].cells] == ["10", "20"]


def test_a_backend_is_compared_with_the_first_one_at_the_same_size(make, run):
    results = [
        make.timing("sum", size, backend, seconds, device_seconds_per_call=seconds / 2)
        for size, backend, seconds in ((10, "numpy", 6.0), (10, "cupy", 2.0), (20, "cupy", 2.0))
    ]
    (comparison,) = summarize(run, results).comparisons
    ratio = row_of(comparison, "seconds_per_call", Cell("size 10", "kernel", "sum", "cupy")).ratio
    assert ratio.estimate == pytest.approx(1 / 3)
    alone = Cell("size 20", "kernel", "sum", "cupy")
    assert row_of(comparison, "seconds_per_call", alone).ratio is None
    assert row_of(comparison, "device_seconds_per_call", alone).interval.estimate == pytest.approx(1.0)


def test_break_evens_use_the_sizes_at_which_both_were_timed(make, run):
    results = [make.timing("sum", size, "numpy", 1e-3 * size) for size in (1, 100, 10_000)]
    results += [make.timing("sum", size, "cupy", 1.0) for size in (1, 10_000)]
    (comparison,) = summarize(run, results).comparisons
    assert break_evens(comparison) == {"cupy": pytest.approx(1000.0)}
    apart = [make.timing("sum", 1, "numpy", 1.0), make.timing("sum", 2, "cupy", 1.0)]
    assert break_evens(summarize(run, apart).comparisons[0]) == {}


def test_the_dearer_one_of_operations_and_bytes_is_the_limit():
    assert floor_seconds(flops=100.0, moved=50.0, flop_rate=100.0, bandwidth=10.0) == (5.0, "memory")
    assert floor_seconds(flops=1000.0, moved=50.0, flop_rate=100.0, bandwidth=10.0) == (10.0, "arithmetic")


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
