"""A value outside of its parameter's range is refused before anything is built."""

from __future__ import annotations

import re

import pytest

from benchfw import BenchfwError
from benchfw.registry import Registry

REGISTRY = Registry()


@pytest.mark.parametrize(
    ("kind", "use", "name", "value", "range_in_words"),
    [
        ("optimizer", "ctm-laplace", "batch", 0, "a whole number from 1 or nothing"),
        ("optimizer", "ctm-delta", "tolerance", 0.0, "positive"),
        ("optimizer", "ctm-mean-field", "iterations", 0, "a whole number from 1"),
        ("optimizer", "ctm-pg", "samples", 5, "a whole number from 2 and a multiple of 2"),
        ("optimizer", "ctm-pg", "covariance", "half", "'full' or 'diagonal'"),
        ("optimizer", "ctm-pg-svi", "step", 0.0, "positive"),
        ("optimizer", "pg-svi", "step", 0, "positive or nothing"),
        ("optimizer", "pg-svi", "batch", 0, "a whole number from 1"),
        ("optimizer", "pg-svi", "samples", -2, "a whole number from 1"),
        ("optimizer", "pg-svi", "refactor", 0, "a whole number from 1"),
        ("optimizer", "pg-svi", "form", "other", "'approximate' or 'exact'"),
        ("optimizer", "pg-svi", "expectation", "a", "'exact' or 'score-function' or 'reparameterization'"),
        ("optimizer", "proximal-svi", "step", 0, "positive or 'auto'"),
        ("optimizer", "proximal-svi", "batch", 0, "a whole number from 1 or nothing"),
        ("optimizer", "proximal-svi", "power", -1, "at least 0"),
        (
            "optimizer",
            "proximal-svi",
            "divergence",
            "other",
            "'euclidean' or 'kl' or 'reversed-kl' or 'symmetric-kl'",
        ),
        ("estimator", "quadrature", "batch", 0, "a whole number from 1 or nothing"),
        ("estimator", "quadrature", "points", 0, "a whole number from 1 or nothing"),
        ("estimator", "score-function", "samples", 0, "a whole number from 1"),
        ("estimator", "reparameterization", "batch", -1, "a whole number from 1 or nothing"),
        ("problem", "bayesian-glm", "variance", 0.0, "positive"),
        ("problem", "gp-classification", "diagonal", "square", "'log' or 'raw'"),
        ("problem", "gp-scaled", "samples", 0, "a whole number from 1"),
        ("problem", "correlated-topics", "topics", 1, "a whole number from 2"),
        ("problem", "correlated-topics", "documents", 0, "a whole number from 1 or nothing"),
        ("problem", "correlated-topics", "parameters", "known", "'fixed' or 'learned'"),
    ],
)
def test_a_value_outside_of_its_range_is_refused(kind, use, name, value, range_in_words):
    with pytest.raises(BenchfwError, match=re.escape(f"{name} must be {range_in_words}, got {value!r}")):
        REGISTRY.build(kind, {"use": use, name: value})
