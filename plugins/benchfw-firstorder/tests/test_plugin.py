"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

import benchfw_firstorder
from benchfw import Composite, FiniteSum, Problem, Smooth
from benchfw.registry import Registry


def collected(hook):
    names = {}
    hook(names.__setitem__)
    return names


def test_every_method_is_registered_under_its_name():
    assert set(collected(benchfw_firstorder.register_optimizers)) == {
        *("gd", "heavy-ball", "nesterov", "subgradient", "proximal-gradient", "fista", "sgd", "svrg", "saga"),
        *("adagrad", "rmsprop", "adadelta", "adam", "lbfgs"),
    }
    assert set(collected(benchfw_firstorder.register_estimators)) == {"exact", "minibatch", "svrg", "saga"}
    assert set(collected(benchfw_firstorder.register_problems)) == {
        *("quadratic", "least-squares", "logistic-regression", "lasso", "elastic-net", "box-least-squares"),
    }


def test_every_method_is_documented_and_says_what_it_needs():
    for kind in ("optimizer", "estimator"):
        own = [entry for entry in Registry().entries(kind).values() if entry.plugin.name == "firstorder"]
        assert own
        for entry in own:
            assert entry.summary
            assert entry.factory.solves in {
                Problem,
                Smooth,
                FiniteSum,
                Composite,
                benchfw_firstorder.Subdifferentiable,
            }
            entry.factory()


def test_every_public_name_is_there():
    for name in ("SGD", "Quadratic", "Minibatch", "Subdifferentiable"):
        assert name in dir(benchfw_firstorder)
        assert getattr(benchfw_firstorder, name).__name__ == name


def test_import_brings_in_no_scipy():
    code = "import benchfw_firstorder, sys; print('scipy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
