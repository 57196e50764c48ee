"""The small network of torch."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from benchfw.errors import Unavailable
from benchfw_kernelmachines.peers.small_network import SmallNetwork
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification
from benchfw_kernelmachines.problems.kernel_regression import KernelRegression

HAS_TORCH = importlib.util.find_spec("torch") is not None
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed")
FIRST_STEPS = """
import sys
from benchfw.backends import get_backend
from benchfw_kernelmachines.peers.small_network import SmallNetwork
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification

backend = get_backend("numpy")
problem = KernelClassification(backend, backend.rng(0), dataset="circle", loss="softmax")
method = SmallNetwork(width=8, batch=50).prepare(problem)
before = set(sys.modules)
answers = method.run(problem, backend.rng(1))
next(answers), next(answers)
print(*(name for name in set(sys.modules) - before if name.startswith("torch")))
"""


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    """Inside and outside of a circle, which no line parts, and a bowl."""
    features = np.random.default_rng(0).standard_normal((400, 2)).astype(np.float32)
    labels = (features**2).sum(axis=1) > 1.4
    np.savez(tmp_path / "circle.npz", X=features, y=labels.astype(np.int64), train_idx=np.arange(300))
    np.savez(tmp_path / "bowl.npz", X=features, y=(features**2).sum(axis=1), train_idx=np.arange(300))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))

    def problem(loss):
        if loss == "squared":
            return KernelRegression(backend, backend.rng(0), dataset="bowl", loss=loss)
        return KernelClassification(backend, backend.rng(0), dataset="circle", loss=loss)

    return problem


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_without_torch_the_network_is_unavailable(build, backend):
    with pytest.raises(Unavailable, match="torch is not installed"):
        next(SmallNetwork().run(build("softmax"), backend.rng(1)))


@with_torch
@pytest.mark.parametrize(
    ("loss", "metric"), [("softmax", "test_error"), ("hinge", "test_error"), ("squared", "test_rmse")]
)
def test_it_learns_what_is_not_linear(build, backend, loss, metric):
    problem = build(loss)
    answers = SmallNetwork(width=64, batch=50, step=0.01).run(problem, backend.rng(1))
    first, *_, last = islice(answers, 301)
    assert problem.metrics(last)[metric] < problem.metrics(first)[metric] / 3
    assert problem.cost == 300 * 50


@with_torch
def test_answers_do_not_change_after_they_are_given(build, backend):
    problem = build("softmax")
    rows = problem.test.features
    answers = SmallNetwork(width=8, batch=50).run(problem, backend.rng(1))
    start = next(answers)
    before = start.predict(rows).copy()
    later = next(answers)
    assert not np.allclose(later.predict(rows), before)
    np.testing.assert_array_equal(start.predict(rows), before)
    assert later.network is start.network  # an answer is a copy of the weights alone


@with_torch
def test_a_step_follows_the_gradient_of_its_own_objective(build, backend):
    """Adam's first step is `step` times the sign of the gradient, whatever its size."""
    problem = build("softmax")
    method = SmallNetwork(width=4, batch=problem.num_samples, step=1e-5)
    before, after = islice(method.run(problem, backend.rng(1)), 2)

    def objective(answer):
        return problem.metrics(answer)["objective"]

    moves = [
        (new - old).double() for old, new in zip(before.weights.values(), after.weights.values(), strict=True)
    ]
    assert all(abs(float(move.abs().max()) - 1e-5) < 1e-7 for move in moves)
    assert objective(after) < objective(before)


@with_torch
def test_preparing_takes_no_rows_and_changes_no_answer(build, backend):
    found = []
    for prepared in (False, True):
        problem, method = build("softmax"), SmallNetwork(width=8, batch=50)
        method = method.prepare(problem) if prepared else method
        assert problem.cost == 0
        found.append(list(islice(method.run(problem, backend.rng(1)), 3))[-1].weights)
    without, after = found
    assert all((without[name] == after[name]).all() for name in without)


@with_torch
@pytest.mark.thorough
@pytest.mark.usefixtures("build")
def test_preparing_loads_all_that_the_first_steps_need_of_torch():
    ran = subprocess.run([sys.executable, "-c", FIRST_STEPS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
