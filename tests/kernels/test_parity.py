"""Every registered kernel: its bodies agree, and the portable one is strict array-API code."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

from benchfw import kernels
from benchfw.backends import get_backend
from benchfw.registry import Registry

ENTRIES = Registry().entries("kernel").values()
REGISTERED = [(entry.factory, entry.sample) for entry in ENTRIES]

each_kernel = pytest.mark.parametrize(
    ("kernel", "sample"), [pytest.param(*entry, id=entry[0].name) for entry in REGISTERED]
)
each_size = pytest.mark.parametrize("size", [0, 1, 2, 17, 20_001])


def arguments_of(sample, size):
    backend = get_backend("numpy")
    return sample(backend, backend.rng(31), size)


def assert_agree(one, other):
    """Sums in another order differ by rounding: some hundred units in the last place are allowed."""
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for parts in zip(one, other, strict=True):
            assert_agree(*parts)
        return
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape
    assert one.dtype == other.dtype
    if one.dtype.kind != "f":
        np.testing.assert_array_equal(one, other)
        return
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    np.testing.assert_allclose(one, other, rtol=0, atol=200 * np.finfo(one.dtype).eps * scale)


@each_kernel
@each_size
def test_the_portable_body_is_strict_and_agrees_with_the_numpy_body(kernel, sample, size):
    arguments = arguments_of(sample, size)
    strict = [
        array_api_strict.asarray(argument) if isinstance(argument, np.ndarray) else argument
        for argument in arguments
    ]
    assert_agree(kernel(*strict), kernel(*arguments))


@each_kernel
@each_size
def test_the_portable_body_agrees_on_numpy_arrays(kernel, sample, size):
    arguments = arguments_of(sample, size)
    assert_agree(kernel.portable(*arguments), kernel(*arguments))


@each_kernel
def test_declared_counts_grow_with_the_size(kernel, sample):
    if kernel.counts is None:
        pytest.skip("it declares no counts")
    small, large = (kernel.counts(*arguments_of(sample, size)) for size in (1000, 10_000))
    assert all(0 < one < other for one, other in zip(small, large, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normals_have_equal_bits_in_every_body(dtype):
    words = get_backend("numpy").bits(3, 0, 0, 0, 5000)
    strict = kernels.normals(array_api_strict.asarray(words), dtype=dtype)
    np.testing.assert_array_equal(np.asarray(strict), kernels.normals(words, dtype=dtype))


def test_every_exported_kernel_is_registered():
    exported = {name for name in kernels.__all__ if isinstance(getattr(kernels, name), kernels.Kernel)}
    own = [entry.factory for entry in ENTRIES if entry.plugin.distribution == "benchfw"]
    assert exported == {kernel.portable.__name__ for kernel in own}


def test_a_kernel_registered_by_place_is_listed_under_its_own_name():
    for name, entry in Registry().entries("kernel").items():
        assert entry.factory.name == name
