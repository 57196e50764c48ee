"""Checks that a plugin's chance is the generator that it is given, and nothing else."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import Rng, get_backend
from benchfw.measure.endings import with_parts
from benchfw.measure.files import begin_files
from benchfw.measure.optimizers import checked_answers
from benchfw.testing.answers import (
    ANSWERS,
    METHOD_SEED,
    answer_numbers,
    copy_arrays,
    flat_numbers,
    is_close,
    point_near_start,
    ready_method,
)
from benchfw.testing.check import DRAWING_ROLES, CheckFailed, NotApplicable, define_check, require
from benchfw.testing.new_process import numbers_in_new_process
from benchfw.testing.problems import DATA_SEED, Setting
from benchfw.testing.subject import Subject

DECAY = 1.5  # of the series that a distribution is asked to cut
ROUNDING = 1e-6  # relative: another process may add in another order
USE_RNG = "draw every number from the rng that draw(), run(), sample() or the factory is given"


def results(subject: Subject, setting: Setting | None, seed: int) -> tuple[NDArray[np.float64], bool]:
    """Return what a plugin makes of a seed, as numbers, and whether it has drawn from its generator."""
    backend = get_backend("numpy")
    rng = backend.rng(seed)
    if subject.kind == "distribution":
        return np.asarray(subject.build().sample(rng, DECAY, 50), dtype=np.float64), rng.block > 0
    if subject.kind == "kernel":
        arguments = subject.entry.sample(backend, rng, 17)
        return np.concatenate([_summary(each) for each in arguments] or [np.zeros(0)]), rng.block > 0
    if setting is None:
        raise NotApplicable("there is no small problem with the oracles that it needs")
    if subject.kind == "problem":
        begin_files()
        return _data(setting.make(backend, rng)), rng.block > 0
    problem = setting.build()
    return _numbers_of(ready_method(subject.build(), problem), problem, rng), rng.block > 0


def _numbers_of(method: Any, problem: Any, rng: Rng) -> NDArray[np.float64]:
    """Return a draw of an estimator, or the first answers of an optimizer."""
    if hasattr(method, "draw"):
        return flat_numbers(problem, method.draw(problem, rng)(point_near_start(problem)))
    answers = islice(checked_answers(method, problem, rng), ANSWERS)
    return np.concatenate([answer_numbers(problem, each) for each in answers])


def _data(problem: Any) -> NDArray[np.float64]:
    """Return the arrays that a problem holds, its value where it starts and a product, as numbers."""
    arrays = [_summary(array) for _, array in sorted(copy_arrays(problem).items())]
    if hasattr(problem, "start") and hasattr(problem, "value"):
        arrays.append(flat_numbers(problem, problem.value(problem.start())))
    if hasattr(problem, "matmat"):
        arrays.append(flat_numbers(problem, problem.matmat(problem.backend.xp.ones((problem.size, 1)))))
    return np.concatenate(arrays or [np.zeros(0)])


def _summary(value: Any) -> NDArray[np.float64]:
    """Return sums of an array, or nothing of what is not an array."""
    if not isinstance(value, np.ndarray):
        return np.zeros(0)
    flat = value.astype(np.float64).reshape(-1)
    return np.array([flat.sum(), (flat * np.cos(np.arange(flat.size))).sum()])


def _places(subject: Subject) -> list[Setting | None]:
    if subject.kind in {"distribution", "kernel"}:
        return [None]
    return [*subject.need_settings()]


@define_check("problem", "estimator", "optimizer", "distribution", "kernel", advice=USE_RNG)
def same_seed(subject: Subject) -> None:
    """The same seed gives the same answer."""
    for place in _places(subject):
        one, _ = results(subject, place, METHOD_SEED)
        two, _ = results(subject, place, METHOD_SEED)
        require(np.array_equal(one, two, equal_nan=True), f"two runs from one seed differ{_on(place)}")


@define_check("problem", "estimator", "optimizer", "distribution", "kernel", advice=USE_RNG)
def different_seed(subject: Subject) -> str | None:
    """Different seeds give different answers, unless nothing is drawn."""
    draws = False
    for place in _places(subject):
        one, drew = results(subject, place, METHOD_SEED)
        others = [results(subject, place, METHOD_SEED + k)[0] for k in range(1, 4)]
        same = all(np.array_equal(one, other, equal_nan=True) for other in others)
        draws |= drew or not same
        varied = float(np.ptp(one)) > 0 if subject.kind == "distribution" else True
        if same and drew and varied and subject.kind != "kernel":
            raise CheckFailed(f"it draws numbers, and four seeds give one answer{_on(place)}")
    return None if draws else "draws nothing"


@define_check(
    *DRAWING_ROLES,
    advice="leave numpy.random and random alone; " + USE_RNG,
)
def global_random_state(subject: Subject) -> None:
    """The global random states are not touched."""
    for place in _places(subject):
        numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
        results(subject, place, METHOD_SEED)
        numpy_after, python_after = np.random.get_state(), random.getstate()  # noqa: NPY002
        same = all(np.array_equal(one, two) for one, two in zip(numpy_before, numpy_after, strict=True))
        require(same, f"the state of numpy.random has changed{_on(place)}")
        require(python_before == python_after, f"the state of random has changed{_on(place)}")


@define_check(
    "estimator",
    "optimizer",
    advice="keep what a run learns in local variables of run() or draw(), not in the class or the module",
)
def remembers_nothing(subject: Subject) -> None:
    """A trial gives the same answer after others as in a new process."""
    last = subject.need_settings()[-1]
    others = [
        *subject.settings[:-1],
        Setting(last.name, lambda backend, _: last.build(backend, DATA_SEED + 1)),
    ]
    for each in others:
        subject.sample_numbers(each)
    here, there = subject.sample_numbers(last), numbers_in_new_process(subject, last.name)
    if isinstance(there, str):
        raise CheckFailed(f"on {last.name} in a new process {there}")
    require(
        is_close(here, np.array(there), ROUNDING),
        f"after {len(others)} other trials its answers on {last.name} are not those of a new process",
    )


def _on(place: Setting | None) -> str:
    return f" on {place.name}" if place else ""


@define_check(
    "estimator",
    "optimizer",
    advice="return self or dataclasses.replace(self, …) from prepare(); draw nothing and keep nothing there",
)
def prepared_alike(subject: Subject) -> None:
    """To prepare it once more changes none of its answers."""
    method = subject.build()
    if not any(hasattr(each, "prepare") for each in with_parts(method)):
        raise NotApplicable("it has nothing to prepare")
    for setting in subject.need_settings():
        found = []
        for times in (1, 2):
            problem = setting.build()
            for _ in range(times):
                ready = ready_method(method, problem)
            found.append(_numbers_of(ready, problem, problem.backend.rng(METHOD_SEED)))
        require(is_close(found[0], found[1], ROUNDING), f"its answers are others on {setting.name}")
