"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

import benchfw_firstorder
from benchfw import Composite, FiniteSum, Smooth


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
    hooks = (benchfw_firstorder.register_optimizers, benchfw_firstorder.register_estimators)
    for hook in hooks:
        for factory in collected(hook).values():
            assert factory.__doc__
            assert factory.solves in {Smooth, FiniteSum, Composite, benchfw_firstorder.Subdifferentiable}
            factory()


def test_import_brings_in_no_scipy():
    code = "import benchfw_firstorder, sys; print('scipy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
