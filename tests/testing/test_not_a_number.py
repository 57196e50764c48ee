"""What is not a number passes no check."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.testing import Effort, Ending, run_checks, subjects_of
from benchfw.testing.arrays import close
from benchfw.testing.sequential import Verdict

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of what is made here on purpose

OPTIMIZER = """
import math
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Diverging:
    solves = Smooth
    bounds = "objective"

    def run(self, problem, rng):
        x = problem.start()
        for iteration in range(10**9):
            yield x
            x = x - problem.grad(x) * (1e-3 if iteration < 8 else math.nan)

    def bound(self, problem, iterations):
        return 1e9 + 0.0 * iterations

@hookimpl
def register_optimizers(register):
    register("diverging", Diverging)
"""

ESTIMATOR = """
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Broken:
    every: int = 3
    solves, estimates, unbiased = Smooth, "grad", True
    averages, bias_order = "every", ("every", 1.0)

    def draw(self, problem, rng):
        noise = rng.standard_normal(6)
        number = rng.integers(self.every)
        return lambda params: problem.grad(params) + noise + (0.0 if number else float("nan"))

@hookimpl
def register_estimators(register):
    register("broken", Broken)
"""

LAW = """
import numpy as np
from dataclasses import dataclass
from benchfw import hookimpl

@dataclass(frozen=True)
class Holed:
    mean: float = 1.0

    def survival(self, degree, decay):
        return np.where(degree == 5, np.nan, 0.5 ** degree)

    def sample(self, rng, decay, size=None):
        return np.zeros(size, dtype=int)

@hookimpl
def register_distributions(register):
    register("holed", Holed)
"""

PROBLEM = """
from benchfw import hookimpl

class Holed:
    num_samples = 4

    def __init__(self, backend, rng):
        self.backend, self.cost = backend, 0.0

    def start(self):
        return self.backend.xp.ones(3)

    def value(self, params):
        return 0.0

    def grad(self, params):
        return params * float("nan")

    def grad_batch(self, params, batch):
        return params * float("nan")

    def metrics(self, answer):
        return {"gap": 1.0}

@hookimpl
def register_problems(register):
    register("holed", Holed)
"""


def endings(path):
    effort = Effort(seconds=0.05, iterations=20)
    return {each.check.name: each for each in run_checks(subjects_of(str(path), effort=effort))}


@pytest.fixture
def diverging(plugin_file):
    return endings(plugin_file(OPTIMIZER, "diverging.py"))


def test_an_optimizer_whose_metrics_become_nan_does_not_improve(diverging):
    assert diverging["improves"].ending is Ending.FAILED
    assert "gap from 28.11 to nan" in diverging["improves"].detail


def test_an_optimizer_whose_answers_become_nan_is_not_told_to_project_them(diverging):
    assert "on quadratic answer 9 is nan. To do: look for a step" in str(diverging["stays-feasible"])


def test_a_metric_that_became_nan_is_above_every_bound(diverging):
    assert diverging["bound-holds"].ending is Ending.FAILED
    assert "after 9 steps" in diverging["bound-holds"].detail


@pytest.mark.parametrize("check", ["unbiased", "bias-order", "variance-falls"])
def test_one_draw_in_many_that_is_nan_fails_every_claim_about_chance(plugin_file, check):
    path = plugin_file(ESTIMATOR.replace("3", "50"), "broken.py")
    found = {each.check.name: each for each in run_checks(subjects_of(str(path)), check)}[check]
    assert found.ending is Ending.FAILED
    assert found.detail == "a draw on quadratic is nan"


def test_an_estimator_that_draws_nan_alone_does_not_run(plugin_file):
    found = endings(plugin_file(ESTIMATOR.replace("3", "1"), "broken.py"))["meets-a-problem"]
    assert found.ending is Ending.FAILED
    assert found.detail == "a draw on quadratic is nan"


@pytest.mark.parametrize("check", ["sums-to-one", "survival-matches-samples", "mean-as-declared"])
def test_a_law_with_a_probability_that_is_nan_fails(plugin_file, check):
    assert "survival at decay 1.2 is nan" in str(endings(plugin_file(LAW, "holed.py"))[check])


@pytest.mark.parametrize("check", ["gradient", "batch-gradient"])
def test_a_gradient_that_is_nan_fails(plugin_file, check):
    assert "the gradient on holed is nan" in str(endings(plugin_file(PROBLEM, "holed.py"))[check])


def test_a_mean_that_is_nan_is_off_by_more_than_chance_explains():
    assert Verdict(256, np.array([math.nan, 0.0]), np.ones(2), 1.0).biased
    assert Verdict(256, np.zeros(2), np.array([math.nan, 1.0]), 1.0).biased


def test_nan_is_close_to_nan_alone():
    assert close(np.array([1.0, math.nan]), np.array([1.0, math.nan]), 1e-6)
    assert not close(np.array([1.0, math.nan]), np.array([1.0, math.inf]), 1e-6)
    assert not close(np.array([math.inf]), np.array([-math.inf]), 1e-6)
