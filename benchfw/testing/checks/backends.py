"""Checks of backends: arrays come back as they went in, and random numbers are those of NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchfw.backends import Backend, backend_names, get_backend, owner_of
from benchfw.testing.check import NotApplicable, define_check, require
from benchfw.testing.subject import Subject

SEED, STREAM = 2**63 + 11, 7
SPANS = ((0, 0), (0, 1), (0, 1001), (5, 64))
"""Which words of a block are compared: from where, and how many."""


@define_check("backend", advice="asarray copies to the backend, to_numpy back; neither changes type or shape")
def arrays_come_back(subject: Subject) -> None:
    """Arrays of every type come back from the backend with the same numbers, type and shape."""
    backend = _backend(subject)
    for dtype in (np.float64, np.float32, np.int64, np.uint64, np.bool_):
        for shape in ((), (0,), (7,), (2, 3)):
            given = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
            back = backend.to_numpy(backend.asarray(given))
            same = back.dtype == given.dtype and back.shape == given.shape and np.array_equal(back, given)
            require(
                same,
                f"{given.dtype} of shape {shape} comes back as {back.dtype} of shape {back.shape}: {back}",
            )


@define_check("backend", advice="leave `owns` to Backend, or answer for arrays of your own library alone")
def arrays_are_owned(subject: Subject) -> None:
    """Its arrays are its own, so that kernels run its bodies on them."""
    backend = _backend(subject)
    owner = owner_of(backend.asarray([1.0, 2.0]))
    require(owner == backend.name, f"its arrays are those of the backend {owner}")


@define_check("backend", advice="leave `bits` to Backend, which draws on the host, and compare yours with it")
def same_bits(subject: Subject) -> None:
    """The words of (seed, stream, block, index) are those of Philox-4x64-10 on NumPy, bit for bit."""
    backend, host = _backend(subject), get_backend("numpy")
    for block, (start, count) in enumerate(SPANS):
        address = (SEED, STREAM, block, start, count)
        _require_equal(backend, backend.bits(*address), host.bits(*address), f"bits{address}")
    several = (SEED, STREAM, 3, 4, 33)
    words = backend.bits_of_blocks(*several)
    _require_equal(backend, words, host.bits_of_blocks(*several), f"bits_of_blocks{several}")


@define_check(
    "backend", advice="leave `normals` to Backend: fixed arithmetic, without the library's log or cos"
)
def same_numbers(subject: Subject) -> None:
    """Normals, uniforms, signs, integers and permutations are those of NumPy, bit for bit."""
    backend, host = _backend(subject), get_backend("numpy")
    for (name, own), (_, theirs) in zip(_draws(backend), _draws(host), strict=True):
        _require_equal(backend, own, theirs, name)


@define_check("backend", advice="return the device and the versions that numbers depend on, as strings")
def described(subject: Subject) -> str:
    """It names its device, waits for it, and knows how much memory is in use."""
    backend = _backend(subject)
    facts = dict(backend.describe())
    plain = all(isinstance(key, str) and isinstance(value, str) for key, value in facts.items())
    require(plain and "device" in facts, f"describe() gives {facts!r}")
    backend.synchronize()
    require(isinstance(backend.memory(), int), f"memory() gives {backend.memory()!r}, not a number of bytes")
    return facts["device"]


def _backend(subject: Subject) -> Backend:
    name = subject.entry.name
    if name not in backend_names():
        raise NotApplicable(f"there is no backend {name}")
    return get_backend(name)


def _draws(backend: Backend) -> Iterator[tuple[str, Any]]:
    rng = backend.rng(SEED)
    for dtype in (np.float64, np.float32):
        for size in (1, 1001):
            yield f"standard_normal({size}, {dtype.__name__})", rng.standard_normal(size, dtype)
            yield f"random({size}, {dtype.__name__})", rng.random(size, dtype)
            yield f"rademacher({size}, {dtype.__name__})", rng.rademacher(size, dtype)
    yield "standard_normals(3, 5)", rng.standard_normals(3, 5)
    yield "integers(-3, 2**40, 1001)", rng.integers(-3, 2**40, 1001)
    yield "permutation(101)", rng.permutation(101)


def _require_equal(backend: Backend, found: Any, wanted: Any, what: str) -> None:
    own = backend.to_numpy(found)
    require(own.shape == wanted.shape, f"{what} has the shape {own.shape}, not {wanted.shape}")
    differ = np.flatnonzero((own != wanted).reshape(-1))
    if len(differ):
        first = int(differ[0])
        require(
            False,
            f"{what}: {len(differ)} of {wanted.size} differ, first number {first}: "
            f"{own.reshape(-1)[first]!r} instead of {wanted.reshape(-1)[first]!r}",
        )
