"""A value outside of its parameter's range is refused before anything is built."""

from __future__ import annotations

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
    if entry.plugin.module == "benchfw_variational"
]


@pytest.mark.parametrize(
    ("kind", "use", "params", "sentence"),
    [
        ("optimizer", "ctm-laplace", {"batch": 0}, "batch must be a whole number from 1 or nothing, got 0"),
        ("optimizer", "ctm-delta", {"tolerance": 0.0}, "tolerance must be positive, got 0.0"),
        ("optimizer", "ctm-mean-field", {"iterations": 0}, "iterations must be a whole number from 1, got 0"),
        (
            "optimizer",
            "ctm-pg",
            {"samples": 5},
            "samples must be a whole number from 2 and a multiple of 2, got 5",
        ),
        (
            "optimizer",
            "ctm-pg",
            {"covariance": "half"},
            "covariance must be 'full' or 'diagonal', got 'half'",
        ),
        ("optimizer", "ctm-pg-svi", {"step": 0.0}, "step must be positive, got 0.0"),
        ("optimizer", "pg-svi", {"step": 0}, "step must be positive, got 0"),
        ("optimizer", "pg-svi", {"batch": 0}, "batch must be a whole number from 1, got 0"),
        ("optimizer", "pg-svi", {"samples": -2}, "samples must be a whole number from 1, got -2"),
        ("optimizer", "pg-svi", {"refactor": 0}, "refactor must be a whole number from 1, got 0"),
        ("optimizer", "pg-svi", {"form": "other"}, "form must be 'approximate' or 'exact', got 'other'"),
        (
            "optimizer",
            "pg-svi",
            {"expectation": "a"},
            "expectation must be 'exact' or 'score-function' or 'reparameterization', got 'a'",
        ),
        ("optimizer", "proximal-svi", {"step": 0}, "step must be positive or 'auto', got 0"),
        ("optimizer", "proximal-svi", {"batch": 0}, "batch must be a whole number from 1 or nothing, got 0"),
        ("optimizer", "proximal-svi", {"power": -1}, "power must be at least 0, got -1"),
        ("optimizer", "proximal-svi", {"divergence": "other"}, "divergence must be 'euclidean' or 'kl'"),
        ("estimator", "quadrature", {"batch": 0}, "batch must be a whole number from 1 or nothing, got 0"),
        ("estimator", "quadrature", {"points": 0}, "points must be a whole number from 1 or nothing, got 0"),
        ("estimator", "score-function", {"samples": 0}, "samples must be a whole number from 1, got 0"),
        (
            "estimator",
            "reparameterization",
            {"batch": -1},
            "batch must be a whole number from 1 or nothing, got -1",
        ),
        ("problem", "bayesian-glm", {"variance": 0.0}, "variance must be positive, got 0.0"),
        (
            "problem",
            "gp-classification",
            {"diagonal": "square"},
            "diagonal must be 'log' or 'raw', got 'square'",
        ),
        ("problem", "gp-scaled", {"samples": 0}, "samples must be a whole number from 1, got 0"),
        ("problem", "correlated-topics", {"topics": 1}, "topics must be a whole number from 2, got 1"),
        (
            "problem",
            "correlated-topics",
            {"documents": 0},
            "documents must be a whole number from 1 or nothing, got 0",
        ),
        (
            "problem",
            "correlated-topics",
            {"parameters": "known"},
            "parameters must be 'fixed' or 'learned', got 'known'",
        ),
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
