"""On a GPU: a trial of every method and problem of the suites has the records that it has on the host."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchfw import data
from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable, DataError
from benchfw.measure.endings import outcome_of
from benchfw.measure.trial import collector, run_trial
from benchfw.plan import plan
from benchfw.records import Budget, Status
from benchfw.registry import Registry
from benchfw.search import setting_at, settle, spaces_in
from benchfw.suite import read_suite

try:
    get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

REGISTRY = Registry()
ROOT = Path(__file__).parents[2]
SUITES = [*sorted(ROOT.glob("suites/**/*.toml")), *sorted(ROOT.glob("plugins/*/*/suites/**/*.toml"))]
ITERATIONS = 5
FLOAT64, FLOAT32, SIGNS = 1e-6, 5e-3, 5e-2  # relative, after five iterations
SINGLE_PRECISION = {"kernel-classification", "kernel-regression", "functional-gradient"}
# where a partial derivative is rounding alone, a step by its sign is too; and a line search may end elsewhere
AMPLIFYING = {("adam", "gp-classification"), ("rmsprop", "gp-classification"), ("lbfgs", "quadratic")}
HOST_ALONE = {"libsvm"}


def is_a_peer(trial):
    """Another library computes where and in what precision it likes."""
    return ".peers." in REGISTRY.get(trial.kind, trial.method.use).factory.__module__


def first_trials():
    """The first trial of each pair of a method and a problem, as `--quick` would run it."""
    found = {}
    for path in SUITES:
        for trial in plan(read_suite(path, quick=True), REGISTRY):
            if trial.kind != "kernel" and trial.method.use not in HOST_ALONE and not is_a_peer(trial):
                middle = setting_at(spaces_in(trial.method.params), 0.5)  # of what the suite tunes
                settled = replace(trial, method=settle(trial.method, middle))
                found.setdefault((trial.method.use, trial.problem.use), settled)
    return [
        pytest.param(trial, id=f"{method} on {problem}") for (method, problem), trial in sorted(found.items())
    ]


def records_on(backend, trial):
    records, emit = collector()
    short = replace(trial, backend=backend, budget=Budget(iterations=ITERATIONS), target={}, precision=None)
    ended = run_trial(short, REGISTRY, emit)
    assert ended.status in {Status.DONE, Status.DIVERGED}, ended.reason  # at steps that a tuner would leave
    return {(each.metric, each.iteration): each.value for each in records}


def skip_without_data(trial):
    name = REGISTRY.dataset_of("problem", trial.problem.table)
    try:
        with REGISTRY.activate():
            if name:
                data.ensure_available(name)
    except DataError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("trial", first_trials())
def test_a_trial_has_the_same_records(trial):
    skip_without_data(trial)
    host, device = (records_on(backend, trial) for backend in ("numpy", "cupy"))
    single = trial.problem.use in SINGLE_PRECISION or trial.problem.params.get("dtype") == "float32"
    tolerance = FLOAT32 if single else FLOAT64
    if (trial.method.use, trial.problem.use) in AMPLIFYING:
        tolerance = SIGNS
    timed = {key for key in host if "seconds" in key[0] or "memory" in key[0]}
    assert host.keys() == device.keys()
    for key in host.keys() - timed:
        assert device[key] == pytest.approx(host[key], rel=tolerance, abs=tolerance), key


def test_a_device_without_the_memory_is_a_status():
    with pytest.raises(MemoryError) as refused:
        get_backend("cupy").xp.empty(1 << 45, dtype="float64")
    outcome = outcome_of(refused.value)
    assert outcome.status is Status.OUT_OF_MEMORY
    assert "Out of memory allocating" in outcome.reason
