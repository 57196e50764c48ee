"""What is not a number passes no check."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.testing import CheckStatus, Effort, run_checks, subjects_of
from benchfw.testing.answers import is_close
from benchfw.testing.checks.estimators import MeanDifference

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
from benchfw import Claims, Smooth, hookimpl

@dataclass(frozen=True)
class Broken:
    every: int = EVERY
    solves, estimates = Smooth, "grad"
    claims = Claims(unbiased=True, averages="every", bias_order=("every", 1.0))

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
from benchfw import CountedProblem, hookimpl

class Holed(CountedProblem):
    num_samples = 4

    def __init__(self, backend, rng):
        self.backend = backend

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


def failure(path, check):
    effort = Effort(seconds=0.05, iterations=20)
    (found,) = run_checks(subjects_of(str(path), effort=effort), check)
    assert found.status is CheckStatus.FAILED
    return str(found)


def test_an_optimizer_whose_metrics_become_nan_does_not_improve(plugin_file):
    told = failure(plugin_file(OPTIMIZER, "diverging.py"), "improves")
    assert "gap from 28.11 to nan" in told
    assert "a division by 0" in told


def test_an_optimizer_whose_answers_become_nan_is_not_told_to_project_them(plugin_file):
    told = failure(plugin_file(OPTIMIZER, "diverging.py"), "stays-feasible")
    assert "on quadratic answer 9 is nan. To do: look for a step" in told


def test_a_metric_that_became_nan_is_above_every_bound(plugin_file):
    assert "after 9 steps" in failure(plugin_file(OPTIMIZER, "diverging.py"), "bound-holds")


@pytest.mark.parametrize("check", ["unbiased", "bias-order", "variance-falls"])
def test_one_draw_in_many_that_is_nan_fails_every_claim_about_chance(plugin_file, check):
    told = failure(plugin_file(ESTIMATOR.replace("EVERY", "50"), "broken.py"), check)
    assert "a draw on quadratic is nan" in told


def test_an_estimator_that_draws_nan_alone_does_not_run(plugin_file):
    told = failure(plugin_file(ESTIMATOR.replace("EVERY", "1"), "broken.py"), "meets-a-problem")
    assert "a draw on quadratic is nan" in told


@pytest.mark.parametrize("check", ["sums-to-one", "survival-matches-samples", "mean-as-declared"])
def test_a_law_with_a_probability_that_is_nan_fails(plugin_file, check):
    assert "survival at decay 1.2 is nan" in failure(plugin_file(LAW, "holed.py"), check)


@pytest.mark.parametrize("check", ["gradient", "batch-gradient"])
def test_a_gradient_that_is_nan_fails(plugin_file, check):
    assert "the gradient on holed is nan" in failure(plugin_file(PROBLEM, "holed.py"), check)


def test_a_mean_that_is_nan_is_off_by_more_than_chance_explains():
    assert MeanDifference(256, np.array([math.nan, 0.0]), np.ones(2), 1.0).biased
    assert MeanDifference(256, np.zeros(2), np.array([math.nan, 1.0]), 1.0).biased


def test_nan_is_close_to_nan_alone():
    assert is_close(np.array([1.0, math.nan]), np.array([1.0, math.nan]), 1e-6)
    assert not is_close(np.array([1.0, math.nan]), np.array([1.0, math.inf]), 1e-6)
    assert not is_close(np.array([math.inf]), np.array([-math.inf]), 1e-6)
