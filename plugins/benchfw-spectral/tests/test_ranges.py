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
    if entry.plugin.module == "benchfw_spectral"
]


@pytest.mark.parametrize(
    ("kind", "use", "params", "sentence"),
    [
        ("estimator", "hutchinson", {"probes": 0}, "probes must be a whole number from 1, got 0"),
        ("estimator", "hutch++", {"probes": 2}, "probes must be a whole number from 3, got 2"),
        ("estimator", "hutch++", {"degree": -1}, "degree must be a whole number from 0, got -1"),
        ("estimator", "xtrace", {"probes": 1}, "probes must be a whole number from 2, got 1"),
        ("estimator", "lanczos", {"steps": 0}, "steps must be a whole number from 1, got 0"),
        ("estimator", "lanczos", {"tolerance": 0.0}, "tolerance must be positive, got 0.0"),
        ("estimator", "lanczos", {"rank": -1}, "rank must be a whole number from 0, got -1"),
        ("estimator", "chebyshev", {"probes": 0}, "probes must be a whole number from 1, got 0"),
        (
            "estimator",
            "chebyshev",
            {"distribution": {"use": "optimal", "mean": 0}},
            "mean must be positive, got 0, in distribution 'optimal'",
        ),
        ("estimator", "peer-imate", {"probes": 0}, "probes must be a whole number from 1, got 0"),
        ("distribution", "optimal", {"mean": math.inf}, "mean must be positive and finite, got inf"),
        (
            "distribution",
            "negative-binomial",
            {"mean": math.inf},
            "mean must be positive and finite, got inf",
        ),
        ("distribution", "geometric", {"mean": math.inf}, "mean must be positive and finite, got inf"),
        ("distribution", "poisson", {"mean": math.inf}, "mean must be positive and finite, got inf"),
        ("distribution", "oracle", {"mean": math.inf}, "mean must be positive and finite, got inf"),
        ("distribution", "negative-binomial", {"shape": 0}, "shape must be positive, got 0"),
        ("distribution", "deterministic", {"degree": -1}, "degree must be a whole number from 0, got -1"),
        (
            "problem",
            "gp-hyperparameters",
            {"points": 1},
            "points must be a whole number from 2 or nothing, got 1",
        ),
        ("problem", "gp-hyperparameters", {"noise": 0.0}, "noise must be positive or nothing, got 0.0"),
        ("problem", "matrix-completion", {"weight": 0.0}, "weight must be positive, got 0.0"),
        (
            "problem",
            "matrix-completion",
            {"smoothing": -1.0},
            "smoothing must be positive or nothing, got -1.0",
        ),
        ("problem", "spectral-sum", {"size": 0}, "size must be a whole number from 1, got 0"),
        ("problem", "spectral-sum", {"length": 0.0}, "length must be positive, got 0.0"),
        ("problem", "spectral-sum", {"dimension": 0}, "dimension must be a whole number from 1, got 0"),
        ("problem", "spectral-sum", {"shift": math.nan}, "shift must be finite, got nan"),
        ("problem", "spectral-sum", {"exponent": math.nan}, "exponent must be finite, got nan"),
        ("problem", "spectral-quadratic", {"curvature": 0.0}, "curvature must be positive, got 0.0"),
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
