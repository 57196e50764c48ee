"""A value outside of its parameter's range is refused before anything is built."""

from __future__ import annotations

import math
import re

import pytest

from benchfw import BenchfwError
from benchfw.parameters import meanings_of
from benchfw.registry import Registry

PLAIN: dict[str, list[str]] = {}
"""Parameters that take any number."""

REGISTRY = Registry()
KINDS = ("problem", "estimator", "optimizer", "distribution")
OWN = [
    entry
    for kind in KINDS
    for entry in REGISTRY.entries(kind).values()
    if entry.plugin.module == "benchfw_kernelmachines"
]


@pytest.mark.parametrize(
    ("kind", "use", "params", "sentence"),
    [
        ("optimizer", "dsg", {"batch": 0}, "batch must be a whole number from 1, got 0"),
        ("optimizer", "dsg", {"step": -1.0}, "step must be positive, got -1.0"),
        ("optimizer", "dsg", {"step": math.nan}, "step must be positive and finite, got nan"),
        ("optimizer", "dsg", {"delay": -1.0}, "delay must be at least 0, got -1.0"),
        ("optimizer", "dsg", {"power": math.nan}, "power must be at least 0 and finite, got nan"),
        ("optimizer", "dsg", {"preconditioner": 0.0}, "preconditioner must be positive or nothing, got 0.0"),
        ("optimizer", "udsg", {"fresh": 0}, "fresh must be a whole number from 1, got 0"),
        ("optimizer", "udsg", {"reuse": -1}, "reuse must be a whole number from 0, got -1"),
        (
            "optimizer",
            "cdsg",
            {"noise": "none"},
            "noise must be 'per-batch' or 'literal' or 'rigorous', got 'none'",
        ),
        ("optimizer", "cdsg", {"limit": 0.0}, "limit must be positive or 'auto', got 0.0"),
        (
            "optimizer",
            "random-features-sgd",
            {"features": 0},
            "features must be a whole number from 1, got 0",
        ),
        ("optimizer", "random-features-svrg", {"memory": -1}, "memory must be at least 0, got -1"),
        ("optimizer", "random-features-sgd", {"batch": 0}, "batch must be a whole number from 1, got 0"),
        ("optimizer", "random-features-svrg", {"step": 0.0}, "step must be positive or 'auto', got 0.0"),
        ("optimizer", "small-network", {"width": 0}, "width must be a whole number from 1, got 0"),
        ("optimizer", "peer-falkon", {"centres": 0}, "centres must be a whole number from 1, got 0"),
        ("optimizer", "nystrom-ridge", {"centres": 0}, "centres must be a whole number from 1, got 0"),
        ("optimizer", "libsvm", {"cache": 0.0}, "cache must be positive, got 0.0"),
        ("estimator", "doubly-stochastic", {"batch": 0}, "batch must be a whole number from 1, got 0"),
        ("estimator", "doubly-stochastic", {"features": 0}, "features must be a whole number from 1, got 0"),
        ("problem", "kernel-regression", {"penalty": 0.0}, "penalty must be positive, got 0.0"),
        (
            "problem",
            "kernel-regression",
            {"length": "mean"},
            "length must be positive or 'median' or 'median/sqrt2', got 'mean'",
        ),
        (
            "problem",
            "kernel-regression",
            {"length": -1.0},
            "length must be positive or 'median' or 'median/sqrt2', got -1.0",
        ),
        (
            "problem",
            "kernel-regression",
            {"components": -1},
            "components must be a whole number from 0, got -1",
        ),
        (
            "problem",
            "kernel-classification",
            {"evaluation": 0},
            "evaluation must be a whole number from 1, got 0",
        ),
        (
            "problem",
            "kernel-classification",
            {"rows": 1},
            "rows must be a whole number from 2 or nothing, got 1",
        ),
        ("problem", "kernel-regression", {"epsilon": -0.1}, "epsilon must be at least 0, got -0.1"),
    ],
)
def test_a_value_outside_of_its_range_is_refused(kind, use, params, sentence):
    with pytest.raises(BenchfwError, match=re.escape(sentence)):
        REGISTRY.build(kind, {"use": use, **params})


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: f"{entry.kind}-{entry.name}")
def test_every_parameter_has_a_type_and_a_line_about_its_meaning(entry):
    meanings = meanings_of(entry.factory)
    assert [name for name in entry.parameters if not meanings.get(name)] == []
    assert [name for name, each in entry.parameters.items() if each.hint in {int, float}] == PLAIN.get(
        entry.name, []
    )
