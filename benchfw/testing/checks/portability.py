"""Checks of the arrays that a plugin makes: their type, their library; strict arrays for portable code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import Backend, get_backend
from benchfw.testing.answers import (
    answer_numbers,
    copy_arrays,
    flat_numbers,
    is_array,
    is_close,
    point_near_start,
    yields,
)
from benchfw.testing.check import CheckFailed, NotApplicable, define_check, require
from benchfw.testing.oracles import LIKE_PARAMETERS, find_wrong_shape, oracle_calls
from benchfw.testing.problems import Setting
from benchfw.testing.subject import Subject

TOLERANCE = 1e-6  # relative, between backends: some steps amplify rounding
REFUSALS = ("has no len()", "not iterable", "not subscriptable")  # of arrays that are not NumPy's
SINGLE_TOLERANCE = 1e-3  # where the data are float32


@define_check(
    "problem",
    "estimator",
    "optimizer",
    advice="make new arrays with the dtype at hand: xp.zeros_like(x), rng.standard_normal(n, x.dtype)",
)
def dtype_kept(subject: Subject) -> None:
    """Numbers keep their type: float32 in, float32 out."""
    if subject.kind == "problem":
        for setting in subject.settings:
            _check_oracle_types(setting.build(), setting)
        return
    _need_own_arithmetic(subject)
    built_in = [each for each in subject.need_settings() if each.built_in]
    if not built_in:
        raise NotApplicable("none of its problems comes in float32")
    for setting in built_in:
        for made in subject.sample(setting.with_options(dtype=np.float32).build()):
            if is_array(made) and made.shape:
                require(made.dtype == np.float32, f"on a float32 {setting.name} it gives {made.dtype}")


def _need_own_arithmetic(subject: Subject) -> None:
    """Say nothing about a solver that does not yield: the library behind it has arrays of its own."""
    if subject.kind == "optimizer" and not yields(subject.build()):
        raise NotApplicable("it works through a solver that has arrays of its own")


def _check_oracle_types(problem: Any, setting: Setting) -> None:
    if not hasattr(problem, "start") or not is_array(problem.start()):
        raise NotApplicable("its parameters are not arrays")
    start = problem.start()
    calls = oracle_calls(problem, start)
    for name in calls.keys() & set(LIKE_PARAMETERS):
        found = getattr(calls[name](), "dtype", start.dtype)  # shapes-kept reports it
        require(found == start.dtype, f"{name} of {start.dtype} is {found} on {setting.name}")


@define_check(
    "problem",
    "estimator",
    "optimizer",
    advice="use problem.backend.xp for arrays, and backend.to_numpy at the edge",
)
def every_backend(subject: Subject) -> str:
    """It runs on every backend of this machine, with equal results up to 1e-6 (1e-3 on float32 data)."""
    host, *others = subject.backends
    if not others:
        raise NotApplicable(f"this machine has no backend but {host.name}")
    for setting in subject.need_settings():
        reference, tolerance = _results(subject, setting, host), _tolerance(setting)
        for backend in others:
            found = _results(subject, setting, backend)
            require(
                is_close(found, reference, tolerance), f"{backend.name} and numpy differ on {setting.name}"
            )
    return ", ".join(each.name for each in others)


def _results(subject: Subject, setting: Setting, backend: Backend) -> NDArray[np.float64]:
    if subject.kind != "problem":
        return subject.sample_numbers(setting, backend)
    problem = setting.build(backend)
    if not hasattr(problem, "start") or not is_array(problem.start()):
        raise NotApplicable("it has no array to start at, where oracles could be compared")
    place = point_near_start(problem)
    if find_wrong_shape(problem, place):
        raise NotApplicable("its oracles do not return what they should: see shapes-kept")
    oracles = [getattr(problem, name) for name in ("value", "grad") if hasattr(problem, name)]
    return np.concatenate(
        [
            answer_numbers(problem, problem.start()),
            *(flat_numbers(problem, oracle(place)) for oracle in oracles),
        ]
    )


def _tolerance(setting: Setting) -> float:
    arrays = copy_arrays(setting.build(get_backend("numpy"))).values()
    return SINGLE_TOLERANCE if any(each.dtype == np.float32 for each in arrays) else TOLERANCE


@define_check(
    "estimator",
    "optimizer",
    advice="take xp from problem.backend, and import neither numpy nor cupy for arrays",
)
def no_mix_up(subject: Subject) -> str:
    """Arrays of the backend and NumPy's are not mixed, as strict arrays of the array API show."""
    _need_own_arithmetic(subject)
    backend = StrictBackend()
    settings = [each for each in subject.need_settings() if each.built_in]
    if not settings:
        arrays = any(is_array(each) for each in subject.sample(subject.setting().build()))
        why = "problems are not strict array-API code; run it on a machine with a GPU" if arrays else ""
        raise NotApplicable(f"its {why or 'answers are not arrays'}")
    for setting in settings:
        try:
            found = subject.sample(setting.build(backend))
        except (AttributeError, IndexError, NotImplementedError, ValueError) as fault:
            seen = f"strict arrays refuse its code: {fault}; {_spelling(fault, backend)}"
            raise NotApplicable(seen) from None
        except TypeError as fault:
            if any(words in str(fault) for words in REFUSALS):
                seen = f"strict arrays refuse its code: {fault}; write x.shape[0], or index the array"
                raise NotApplicable(seen) from None
            raise CheckFailed(f"arrays of two libraries were mixed: {fault}") from None
        for made in found:
            require(not isinstance(made, np.ndarray), f"it answers with NumPy arrays on {setting.name}")
    return "array-api-strict"


def _spelling(fault: Exception, backend: Backend) -> str:
    """Return how code that strict arrays refuse is written for arrays of every library."""
    name = fault.name if isinstance(fault, AttributeError) else None
    known = name is not None and hasattr(backend.xp, name)
    portable = f"xp.{name}(x)" if known else "functions of the array API"
    return f"write {portable} with xp = problem.backend.xp, or check it on a machine with a GPU"


def on_host(backend: Backend, value: Any) -> Any:
    """Return a result, an array, a number or a tuple of them, as arrays of NumPy."""
    if isinstance(value, tuple):
        return tuple(on_host(backend, each) for each in value)
    return backend.to_numpy(value) if hasattr(value, "dtype") else np.asarray(value)


def assert_agree(one: Any, other: Any, tolerance: float = 200.0) -> None:
    """Raise CheckFailed unless two results are equal up to `tolerance` units in the last place.

    Sums in another order differ by rounding; what is not a floating-point number must be equal.
    """
    if isinstance(one, tuple):
        if len(one) != len(other):
            raise CheckFailed(f"one has {len(one)} parts and the other {len(other)}")
        for parts in zip(one, other, strict=True):
            assert_agree(*parts, tolerance)
        return
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        raise CheckFailed(f"{one.dtype} {one.shape} and {other.dtype} {other.shape} are not alike")
    if one.dtype.kind != "f":
        if not np.array_equal(one, other):
            raise CheckFailed(f"{np.sum(one != other)} of {one.size} entries differ")
        return
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0)))
    allowed = tolerance * float(np.finfo(one.dtype).eps) * scale
    worst = float(np.max(np.abs(one - other), initial=0.0))
    if not worst <= allowed:  # nor may it be nan
        raise CheckFailed(f"they differ by {worst:.2e}, and rounding explains {allowed:.1e}")


class StrictBackend(Backend):
    """Arrays that know the array-API standard and nothing else."""

    name = "array-api-strict"
    draws_on_host = True

    def __init__(self) -> None:
        try:
            import array_api_strict
        except ImportError:
            raise NotApplicable("array-api-strict is not installed; pip install array-api-strict") from None
        self.xp = array_api_strict

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a strict array."""
        wanted = getattr(self.xp, np.dtype(dtype).name) if isinstance(dtype, type | np.dtype) else dtype
        return self.xp.asarray(np.asarray(values), dtype=wanted)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return a strict array as a NumPy array."""
        return np.asarray(values)

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words of a block."""
        return self.asarray(get_backend("numpy").bits(seed, stream, block, start, count))

    def synchronize(self) -> None:
        """Return at once."""

    def memory(self) -> int:
        """Return 0: nobody asks."""
        return 0

    def describe(self) -> Mapping[str, str]:
        """Return the version."""
        return {"device": "array-api-strict", "version": self.xp.__version__}
