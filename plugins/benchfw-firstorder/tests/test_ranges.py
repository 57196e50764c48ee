"""A value outside of its parameter's range is refused before anything is built."""

from __future__ import annotations

import re

import pytest

from benchfw import BenchfwError
from benchfw.parameters import meanings_of
from benchfw.registry import Registry

PLAIN: dict[str, list[str]] = {"box-least-squares": ["lower", "upper"]}
"""Parameters that take any number."""

REGISTRY = Registry()
KINDS = ("problem", "estimator", "optimizer", "distribution")
OWN = [
    entry
    for kind in KINDS
    for entry in REGISTRY.entries(kind).values()
    if entry.plugin.module == "benchfw_firstorder"
]


@pytest.mark.parametrize(
    ("kind", "use", "params", "sentence"),
    [
        ("optimizer", "gd", {"step": 0.0}, "step must be positive or 'auto', got 0.0"),
        ("optimizer", "heavy-ball", {"momentum": 1.0}, "momentum must be at least 0 and below 1, got 1.0"),
        (
            "optimizer",
            "nesterov",
            {"momentum": "fast"},
            "momentum must be at least 0 and below 1 or 'sequence', got 'fast'",
        ),
        ("optimizer", "sgd", {"schedule": "cosine"}, "schedule must be 'constant' or 'inverse'"),
        ("optimizer", "sgd", {"decay": -1.0}, "decay must be at least 0, got -1.0"),
        ("optimizer", "svrg", {"inner": 0}, "inner must be a whole number from 1, got 0"),
        ("optimizer", "saga", {"batch": 0}, "batch must be a whole number from 1, got 0"),
        ("optimizer", "adam", {"decay_square": 1.0}, "decay_square must be at least 0 and below 1, got 1.0"),
        ("optimizer", "adagrad", {"epsilon": 0.0}, "epsilon must be positive, got 0.0"),
        ("optimizer", "lbfgs", {"memory": 0}, "memory must be a whole number from 1, got 0"),
        ("estimator", "minibatch", {"size": 0}, "size must be a whole number from 1, got 0"),
        ("estimator", "svrg", {"anchor_steps": -1}, "anchor_steps must be a whole number from 0, got -1"),
        ("problem", "quadratic", {"size": 0}, "size must be a whole number from 1, got 0"),
        ("problem", "quadratic", {"condition": 0.5}, "condition must be at least 1, got 0.5"),
        ("problem", "least-squares", {"noise": -1.0}, "noise must be at least 0, got -1.0"),
        ("problem", "logistic-regression", {"ridge": 0.0}, "ridge must be positive, got 0.0"),
        ("problem", "logistic-regression", {"noise": 1.5}, "noise must be from 0 to 1, got 1.5"),
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
