"""Checks of every role: how a plugin is built, and that it changes nothing that is not its own."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from itertools import islice, pairwise
from typing import Any

import numpy as np

from benchfw.backends import backend_names, get_backend
from benchfw.errors import BackendUnavailable
from benchfw.testing.arrays import changed, close, held, is_array, numbers, seen
from benchfw.testing.check import METHODS, CheckFailed, NotApplicable, check, require
from benchfw.testing.fresh import ANSWERS
from benchfw.testing.problem_checks import oracle_calls
from benchfw.testing.problems import BUILT_IN
from benchfw.testing.strict import StrictBackend
from benchfw.testing.subject import Setting, Subject, answers_of, drawn, place_of

TOLERANCE = 1e-6  # relative, between backends: some steps amplify rounding


@check(
    "problem",
    "estimator",
    "optimizer",
    "distribution",
    advice="give every parameter a default; small ones for the checks go into check_with = ({...},)",
)
def defaults(subject: Subject) -> None:
    """Every parameter has a default, and the tables of check_with can be built."""
    required = [each.name for each in subject.entry.parameters.values() if each.required]
    require(not required, f"{', '.join(required)} must be given")
    if subject.kind == "problem":
        for setting in subject.settings:
            setting.build()
    else:
        for table in subject.tables:
            subject.build(table)


@check(
    "estimator",
    "optimizer",
    advice="make it run on one of the problems named above; small parameters go into check_with = ({...},)",
)
def meets_a_problem(subject: Subject) -> str:
    """It runs on the small problems that have its oracles."""
    if not subject.settings and subject.refusals:
        raise CheckFailed(f"it refuses all of them ({'; '.join(subject.refusals)})")
    return f"on {len(subject.need_settings())} problems"


@check(
    "problem",
    "estimator",
    "optimizer",
    "distribution",
    "kernel",
    advice="write a docstring whose words include every parameter, and give each a type",
)
def documented(subject: Subject) -> None:
    """There is a docstring, and every parameter has a type and is named there or in that of a base class."""
    factory = subject.entry.factory
    require(bool(inspect.getdoc(factory)), "there is no docstring")
    text = _documentation(subject)
    if subject.kind == "kernel":
        return
    for name, parameter in subject.entry.parameters.items():
        require(parameter.hint is not Any, f"parameter '{name}' has no type")
        named = re.search(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", text)
        require(bool(named), f"parameter '{name}' is not named in the docstring")


def _documentation(subject: Subject) -> str:
    """Return the docstrings of a plugin, of its base classes, and of others that it takes "as for NAME"."""
    factory = subject.entry.factory
    text = " ".join(inspect.getdoc(each) or "" for each in getattr(factory, "__mro__", [factory]))
    alike = subject.registry.entries(subject.kind)
    names = re.findall(r"as for\s+([\w+-]+)", text)
    return " ".join([text, *(inspect.getdoc(alike[name].factory) or "" for name in names if name in alike)])


@check(
    "estimator",
    "optimizer",
    "distribution",
    advice="make it a frozen dataclass, and keep what changes in local variables",
)
def parameters_kept(subject: Subject) -> None:
    """Hyperparameters are the same after a run as before."""
    method = subject.build()
    names = [name for name in subject.entry.parameters if hasattr(method, name)]
    before = copy.deepcopy({name: getattr(method, name) for name in names})
    if subject.kind == "distribution":
        method.sample(get_backend("numpy").rng(3), 1.5, 20)
    else:
        _use(subject, method, subject.setting().build())
    for name in names:
        same = np.array_equal(before[name], getattr(method, name)) or before[name] == getattr(method, name)
        require(bool(same), f"'{name}' was {before[name]!r} and is {getattr(method, name)!r}")


@check(
    "estimator",
    "optimizer",
    "distribution",
    "kernel",
    advice="define the class or the kernel at the top of its module, and hold no lambda, lock or open file",
)
def picklable(subject: Subject) -> None:
    """It can be pickled, as the worker processes and Dask need."""
    made = subject.entry.factory if subject.kind == "kernel" else subject.build()
    try:
        twin = pickle.loads(pickle.dumps(made))  # noqa: S301 - just written
    except Exception as fault:  # noqa: BLE001 - a stranger's class may raise anything
        raise CheckFailed(f"pickle says: {fault}") from None
    require(type(twin) is type(made), f"it comes back as {type(twin).__name__}")


@check("estimator", "optimizer", advice="write x = x - step * g and not x -= step * g; copy before you write")
def inputs_kept(subject: Subject) -> None:
    """Nothing that it is given changes: the parameters, the problem's arrays, answers already handed over."""
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        if subject.kind == "estimator":
            params = place_of(problem)
            before, mine = held(problem), copy.deepcopy(params)
            draw = method.draw(problem, problem.backend.rng(7))
            draw(params)
            if is_array(params):
                require(np.array_equal(params, mine), f"draw(params) changed params on {setting.name}")
        else:
            before = held(problem)
            _follow_untouched(method, problem, setting)
        place = changed(problem, before)
        require(place is None, f"it changed problem.{place} on {setting.name}")


def _follow_untouched(method: Any, problem: Any, setting: Setting) -> None:
    """Raise where an answer changes after it was handed over."""
    kept = [
        (answer, copy.deepcopy(answer) if is_array(answer) else None)
        for answer in islice(answers_of(method, problem), ANSWERS)
    ]
    for number, (answer, before) in enumerate(kept):
        if before is not None:
            require(
                np.array_equal(answer, before, equal_nan=True),
                f"answer {number} changed after it was yielded, on {setting.name}",
            )


@check(
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
    single = [
        setting.with_options(dtype=np.float32) for setting in subject.need_settings() if setting.built_in
    ]
    if not single:
        raise NotApplicable("none of its problems comes in float32")
    for setting in single:
        problem, method = setting.build(), subject.build()
        if subject.kind == "estimator":
            made = [drawn(method, problem)]
        else:
            made = list(islice(answers_of(method, problem), ANSWERS))
        for each in made:
            found = getattr(each, "dtype", None)
            if is_array(each) and each.shape:
                require(found == np.float32, f"on a float32 {setting.name} it gives {found}")


def _check_oracle_types(problem: Any, setting: Setting) -> None:
    if not hasattr(problem, "start") or not is_array(problem.start()):
        raise NotApplicable("its parameters are no arrays")
    start = problem.start()
    calls = oracle_calls(problem, start)
    for name in calls.keys() & {"grad", "grad_batch", "project", "prox"}:
        found = calls[name]().dtype
        require(found == start.dtype, f"{name} of {start.dtype} is {found} on {setting.name}")


@check(
    "problem",
    "estimator",
    "optimizer",
    advice="use problem.backend.xp for arrays, and backend.to_numpy at the edge",
)
def every_backend(subject: Subject) -> str:
    """It runs on every backend of this machine, with equal results up to 1e-6."""
    others = []
    for name in backend_names():
        try:
            others.append(get_backend(name))
        except BackendUnavailable:
            continue
    others = [each for each in others if each.name != "numpy"]
    if not others:
        raise NotApplicable("this machine has no backend but numpy")
    for setting in subject.need_settings():
        reference = _on_backend(subject, setting, get_backend("numpy"))
        for backend in others:
            found = _on_backend(subject, setting, backend)
            require(close(found, reference, TOLERANCE), f"{backend.name} and numpy differ on {setting.name}")
    return ", ".join(each.name for each in others)


def _on_backend(subject: Subject, setting: Setting, backend: Any) -> Any:
    problem = setting.build(backend)
    if subject.kind == "estimator":
        return numbers(problem, drawn(subject.build(), problem))
    if subject.kind == "optimizer":
        answers = islice(answers_of(subject.build(), problem), ANSWERS)
        return np.concatenate([seen(problem, each) for each in answers])
    if not hasattr(problem, "start"):
        raise NotApplicable("it has no start to compare at")
    place = place_of(problem)
    parts = [
        numbers(problem, getattr(problem, name)(place))
        for name in ("value", "grad")
        if hasattr(problem, name)
    ]
    return np.concatenate([seen(problem, problem.start()), *parts])


@check("estimator", "optimizer", advice="ask the problem's oracles alone, and never set problem.cost")
def calls_counted(subject: Subject) -> None:
    """What it does is counted by the problem: the cost grows, and by nothing but oracle calls."""
    for setting in subject.need_settings():
        problem, method = setting.build(), subject.build()
        costs = [float(problem.cost)]
        if subject.kind == "estimator":
            for seed in range(3):
                drawn(method, problem, seed)
                costs.append(float(problem.cost))
        else:
            costs += [float(problem.cost) for _ in islice(answers_of(method, problem), ANSWERS)]
        require(
            all(before <= after for before, after in pairwise(costs)), f"the cost falls on {setting.name}"
        )
        require(costs[-1] > costs[0], f"no oracle call was counted on {setting.name}")
        calls = getattr(problem, "calls", None)
        if calls is not None:
            told = (
                f"it made calls worth {calls():g}, and problem.cost says {problem.cost:g}, on {setting.name}"
            )
            require(abs(calls() - problem.cost) <= 1e-9 * calls(), told)


@check(
    "estimator",
    "optimizer",
    advice="take xp from problem.backend, and import neither numpy nor cupy for arrays",
)
def no_mix_up(subject: Subject) -> str:
    """Arrays of the backend and NumPy's are not mixed, as strict arrays of the array API show."""
    backend = StrictBackend()
    names = {made.__name__.lower() for made in BUILT_IN}
    settings = [each for each in subject.need_settings() if each.name in names]
    if not settings:
        raise NotApplicable("its problems are no strict array-API code; run it on a machine with a GPU")
    for setting in settings:
        problem, method = setting.build(backend), subject.build()
        try:
            made = (
                [drawn(method, problem)]
                if subject.kind == "estimator"
                else list(islice(answers_of(method, problem), ANSWERS))
            )
        except (AttributeError, IndexError, NotImplementedError, ValueError) as fault:
            raise NotApplicable(f"its code is not strict array-API code ({fault}); run it on a GPU") from None
        except TypeError as fault:
            raise CheckFailed(f"arrays of two libraries met: {fault}") from None
        for each in made:
            require(not isinstance(each, np.ndarray), f"it answers with NumPy arrays on {setting.name}")
    return "array-api-strict"


def _use(subject: Subject, method: Any, problem: Any) -> None:
    if subject.kind not in METHODS:
        raise NotApplicable("it is no method")
    if subject.kind == "estimator":
        drawn(method, problem)
    else:
        list(islice(answers_of(method, problem), ANSWERS))
