"""What follows from measured calls, against hand computation."""

import math

import pytest

from benchfw.analysis.roofline import Ceilings
from benchfw.analysis.timings import Timing, break_evens, reference_of, speedup
from benchfw.records import Status

CEILINGS = Ceilings("float64", 100.0, (1_000,), (10.0,))


def timing(size, backend, seconds, **known):
    blocks = () if seconds is None else (seconds,) * 6
    status = Status.SKIPPED if seconds is None else Status.DONE
    return Timing("sum", size, backend, status, "", seconds=blocks, **known)


def test_the_share_of_the_limit_is_the_floor_over_the_median_time():
    each = timing(10, "numpy", 8.0, flops=100.0, moved=20.0, ceilings=CEILINGS)
    assert each.floor == (2.0, "memory")
    assert each.fraction.estimate == 0.25


def test_a_kernel_without_counts_has_no_floor():
    assert timing(10, "numpy", 8.0, ceilings=CEILINGS).floor is None
    assert timing(10, "numpy", 8.0, ceilings=CEILINGS).fraction is None


def test_memory_is_the_arguments_and_what_a_call_holds_beside_them():
    assert timing(10, "numpy", 1.0, argument_bytes=80, peak_bytes=160).memory == 240
    assert timing(10, "numpy", 1.0, argument_bytes=80).memory is None


def test_numpy_is_the_reference_wherever_it_stands_and_the_first_backend_without_it():
    assert reference_of([timing(1, "cupy", 1.0), timing(1, "numpy", 1.0)]) == "numpy"
    assert reference_of([timing(1, "cupy", 1.0), timing(1, "other", 1.0)]) == "cupy"


def test_a_backend_is_as_many_times_faster_as_the_reference_takes_longer():
    both = [timing(10, "numpy", 6.0), timing(10, "cupy", 2.0), timing(20, "cupy", 2.0)]
    assert speedup(both[1], both).estimate == pytest.approx(3.0)
    assert speedup(both[0], both) is None
    assert speedup(both[2], both) is None  # the reference was not timed there


def test_break_evens_use_the_sizes_at_which_both_were_timed():
    timings = [timing(size, "numpy", 1e-3 * size) for size in (1, 100, 10_000)]
    timings += [timing(1, "cupy", 1.0), timing(100, "cupy", None), timing(10_000, "cupy", 1.0)]
    assert break_evens(timings) == {("sum", "cupy"): pytest.approx(1000.0)}


def test_a_break_even_without_a_common_size_is_not_known():
    timings = [timing(1, "numpy", 1.0), timing(2, "cupy", 1.0)]
    assert math.isnan(break_evens(timings)["sum", "cupy"])
