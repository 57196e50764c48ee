"""Memory for arrays that grow."""

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from benchfw.kernels import growing_arrays
from benchfw.kernels.transfers import round_up


class Pool:
    def __init__(self):
        self.given, self.left = [], 1 << 40

    def malloc(self, size):
        if size > self.left:
            raise MemoryError
        self.given.append(size)


@pytest.fixture
def pool(monkeypatch):
    """That of a library that allocates as CuPy does."""
    pool = Pool()
    allocators = [pool.malloc]

    @contextmanager
    def using(allocator):
        allocators.append(allocator)
        yield
        allocators.pop()

    cuda = SimpleNamespace(get_allocator=lambda: allocators[-1], using_allocator=using)
    cupy = SimpleNamespace(get_default_memory_pool=lambda: pool, cuda=cuda)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return pool


def test_an_array_that_grows_gets_the_same_size_again_and_others_what_they_ask_for(pool):
    cuda = sys.modules["cupy"].cuda
    with growing_arrays():
        for size in (100 << 20, 110 << 20):
            cuda.get_allocator()(size)
    cuda.get_allocator()(100 << 20)
    assert pool.given == [128 << 20, 128 << 20, 100 << 20]


def test_where_memory_is_short_an_array_gets_what_it_needs(pool):
    pool.left = 101 << 20
    with growing_arrays():
        sys.modules["cupy"].cuda.get_allocator()(100 << 20)
    assert pool.given == [100 << 20]


def test_an_allocator_of_somebody_else_stays(pool):
    cuda = sys.modules["cupy"].cuda
    with cuda.using_allocator(print), growing_arrays():
        assert cuda.get_allocator() is print


def test_memory_of_a_gpu_is_given_in_powers_of_two():
    sizes = 1, 63, 64, 65, 127, 128
    assert [round_up(size << 20) >> 20 for size in sizes] == [1, 64, 64, 128, 128, 128]
    assert round_up((64 << 20) + 1) == 128 << 20
    assert (round_up(1000), round_up((5 << 30) + 1)) == (1000, (5 << 30) + 1)
