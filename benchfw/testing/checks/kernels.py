"""Checks of kernels: every body gives the same numbers, at every size, and changes nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchfw.backends import Backend, get_backend
from benchfw.kernels import Kernel
from benchfw.testing.check import CheckFailed, NotApplicable, define_check, require
from benchfw.testing.checks.portability import StrictBackend, assert_agree, on_host
from benchfw.testing.subject import Subject

SEED = 31
SIZES = (0, 1, 2, 17, 64, *np.random.default_rng(SEED).integers(3, 3000, 3).tolist(), 20_001)


@define_check(
    "kernel",
    advice="compare the bodies at the size named above; edges, odd sizes and strides are the usual places",
)
def bodies_agree(subject: Subject) -> str:
    """All bodies agree on sizes from 0 up, odd and even, and on arrays that are not contiguous."""
    kernel = _kernel(subject)
    for backend, size in product(subject.backends, SIZES):
        host = kernel.portable(*arguments(subject, size))
        given = arguments(subject, size, backend)
        strided = [_strided(backend, each) for each in given]
        for form, each in ((f"size {size}", given), (f"size {size} not contiguous", strided)):
            own, portable = (on_host(backend, body(*each)) for body in (kernel, kernel.portable))
            _compare(own, host, kernel.tolerance, f"{backend.name} body, {form}")
            _compare(portable, host, kernel.tolerance, f"portable body on {backend.name}, {form}")
    return f"on {', '.join(backend.name for backend in subject.backends)}"


@define_check(
    "kernel", advice="write the portable body with the array-API standard alone; namespace(x) gives xp"
)
def portable_is_strict(subject: Subject) -> None:
    """The portable body is array-API code, and agrees on strict arrays."""
    backend = StrictBackend()
    kernel = _kernel(subject)
    for size in SIZES:
        given = arguments(subject, size)
        strict = [_moved(backend, each) for each in given]
        try:
            found = kernel(*strict)
        except Exception as fault:  # noqa: BLE001 - a stranger's kernel may raise anything
            raise CheckFailed(f"at size {size} it raised {type(fault).__name__}: {fault}") from None
        _compare(
            on_host(backend, found), kernel.portable(*given), kernel.tolerance, f"strict arrays, size {size}"
        )


@define_check("kernel", name="inputs-kept", advice="write into new arrays: a kernel is pure")
def kernel_inputs_kept(subject: Subject) -> None:
    """No argument is changed."""
    kernel = _kernel(subject)
    for body in {kernel.portable, *(kernel.bodies[name] for name in kernel.bodies if name == "numpy")}:
        given = arguments(subject, 17)
        before = [np.array(each) if isinstance(each, np.ndarray) else None for each in given]
        body(*given)
        for number, (now, then) in enumerate(zip(given, before, strict=True)):
            require(then is None or np.array_equal(now, then), f"{body.__name__} changed argument {number}")


@define_check("kernel", advice="take what a call costs from the shapes of its arguments")
def counts_grow(subject: Subject) -> None:
    """Declared operations and bytes are positive and grow with the size."""
    kernel = _kernel(subject)
    if kernel.counts is None:
        raise NotApplicable("it declares no counts")
    small, large = (kernel.counts(*arguments(subject, size)) for size in (1000, 10_000))
    require(
        all(0 < one < other for one, other in zip(small, large, strict=True)),
        f"they are {small} at size 1,000 and {large} at size 10,000",
    )


@define_check(
    "kernel",
    name="dtype-kept",
    advice="take the dtype of the result from the arguments: xp.zeros(n, dtype=x.dtype)",
)
def kernel_dtype_kept(subject: Subject) -> None:
    """float32 in, float32 out."""
    given = arguments(subject, 17)
    if not any(isinstance(each, np.ndarray) and each.dtype == np.float64 for each in given):
        raise NotApplicable("its sample has no float64 array")
    if any(callable(each) for each in given):
        raise NotApplicable("its sample holds functions, whose arrays cannot be made float32")
    single = [_single(each) for each in given]
    kernel = _kernel(subject)
    for body in (kernel, kernel.portable):
        for part in _parts(body(*single)):
            if is_floating(part):
                require(part.dtype == np.float32, f"it gives {part.dtype}")


def _kernel(subject: Subject) -> Kernel[..., Any]:
    kernel: Any = subject.entry.factory
    if not isinstance(kernel, Kernel):
        raise CheckFailed(f"it is {type(kernel).__name__} and not a kernel; make it with @kernel")
    return kernel


def arguments(subject: Subject, size: int, backend: Backend | None = None) -> list[Any]:
    """Return a kernel's arguments of one size."""
    backend = backend or get_backend("numpy")
    return list(subject.entry.sample(backend, backend.rng(SEED), size))


def is_floating(value: Any) -> bool:
    """Return whether a value is an array or a scalar of floating-point numbers with a dtype."""
    return hasattr(value, "dtype") and np.dtype(value.dtype).kind == "f"


def _moved(backend: Backend, value: Any) -> Any:
    """Return arrays of NumPy, also those in lists, on a backend."""
    if isinstance(value, list | tuple):
        return type(value)(_moved(backend, each) for each in value)
    return backend.asarray(value) if isinstance(value, np.ndarray) else value


def _single(value: Any) -> Any:
    """Return float64 arrays, also those in lists, as float32."""
    if isinstance(value, list | tuple):
        return type(value)(_single(each) for each in value)
    return value.astype(np.float32) if is_floating(value) and value.dtype == np.float64 else value


def _strided(backend: Backend, value: Any) -> Any:
    """Return an array as every second entry of a larger one."""
    if not (hasattr(value, "shape") and hasattr(value, "strides") and value.ndim):
        return value
    wide = backend.xp.zeros((*value.shape[:-1], 2 * value.shape[-1]), dtype=value.dtype)
    wide[..., ::2] = value
    return wide[..., ::2]


def _parts(value: Any) -> list[Any]:
    return [part for each in value for part in _parts(each)] if isinstance(value, tuple) else [value]


def _compare(found: Any, wanted: Any, tolerance: float, where: str) -> None:
    try:
        assert_agree(found, on_host(get_backend("numpy"), wanted), tolerance)
    except CheckFailed as fault:
        raise CheckFailed(f"{where}: {fault}") from None
