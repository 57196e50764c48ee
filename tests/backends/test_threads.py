"""Passes over arrays by several threads."""

import threading

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.backends.compiled_normals import compile_pairs
from benchfw.backends.precisions import DOUBLE, SINGLE
from benchfw.backends.rng import philox_words
from benchfw.backends.threads import LEAST, default_threads, over_pieces, useful_threads
from benchfw.kernels import add_scaled, gaussian_gram, gaussian_gram_length_derivative, normals


@pytest.mark.parametrize(
    ("value", "threads"), [("3", 3), ("", 1), ("0", 1), ("-2", 1), ("many", 1), ("4,2", 1), (None, 1)]
)
def test_a_trial_gets_as_many_threads_as_omp_num_threads_says(monkeypatch, value, threads):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if value is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert default_threads() == threads


LARGE = 1 << 19  # entries, of which words and normals are worth two threads and more


def _blocks():
    rng = get_backend("numpy").rng(3)
    return rng.standard_normal((400_000, 8)), rng.standard_normal(8), rng.standard_normal((400_000, 8))


def _points():
    return get_backend("numpy").rng(4).standard_normal((700, 3))


PASSES = {
    "words": lambda: philox_words(1, 2, 3, 0, LARGE + 5),
    "words from the middle": lambda: philox_words(1, 2, 3, 7, LARGE),
    "float32 normals": lambda: normals(philox_words(1, 2, 3, 0, LARGE + 2), dtype=np.float32),
    "float64 normals": lambda: normals(philox_words(1, 2, 3, 0, LARGE + 2), dtype=np.float64),
    "gram": lambda: gaussian_gram(_points(), _points(), 0.7),
    "its derivative": lambda: gaussian_gram_length_derivative(_points(), _points(), 0.7),
    "sum of blocks": lambda: add_scaled(*_blocks()),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_gives_the_same_bits_with_any_number_of_threads(monkeypatch, name):
    found = []
    for threads in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
        found.append(PASSES[name]())
    assert np.array_equal(*found)


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=lambda each: each.floating)
def test_compiled_normals_have_the_bits_of_numpys_also_for_extreme_words(precision):
    pytest.importorskip("numba")
    words = philox_words(5, 6, 7, 0, 4_000)
    ones = (1 << 64) - 1
    words[:8] = [
        0,
        ones,
        1 << 63,
        (1 << 63) - 1,
        1 << 40,
        0xFFFFFF << 40,
        0x7FFFFF << 9,
        ones - (0x7FFFFF << 9),
    ]
    expected = normals(words, dtype=precision.floating)
    found = np.empty_like(expected)
    compile_pairs(precision)(words, found)
    assert found.tobytes() == expected.tobytes()


def test_a_large_pass_uses_the_threads_that_are_allowed_and_leaves_none_behind(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    both, seen, places = threading.Barrier(2, timeout=10), set(), []

    def work(piece):
        both.wait()  # each of two pieces waits for the other: one thread alone would not get on
        seen.add(threading.get_ident())
        places.append(piece)

    before = threading.active_count()
    over_pieces(work, LARGE, LARGE // 2, nanoseconds=4.0)
    assert len(seen) == 2
    assert sorted((each.start, each.stop) for each in places) == [(0, LARGE // 2), (LARGE // 2, LARGE)]
    assert threading.active_count() == before


@pytest.mark.parametrize(("entries", "nanoseconds"), [(1, 1.0), (1000, 9.0), (1, 9_000.0)])
def test_a_short_pass_starts_no_thread(monkeypatch, entries, nanoseconds):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    seen = set()
    over_pieces(lambda piece: seen.add(threading.get_ident()), 100, 10, entries, nanoseconds)
    assert seen == {threading.get_ident()}


def test_each_thread_has_half_a_millisecond_of_work_at_least(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "16")
    assert [useful_threads(each * LEAST) for each in (0, 1.9, 2, 7.5, 16, 1000)] == [1, 1, 2, 7, 16, 16]


def test_what_a_piece_raises_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")

    def fail(piece):
        raise ValueError(f"at {piece.start}")

    with pytest.raises(ValueError, match="at 0"):
        over_pieces(fail, LARGE, LARGE // 2, nanoseconds=4.0)
