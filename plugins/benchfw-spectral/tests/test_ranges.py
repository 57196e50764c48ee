"""A value outside of its parameter's range is refused before anything is built."""

from __future__ import annotations

import math
import re

import pytest

from benchfw import BenchfwError
from benchfw.registry import Registry

REGISTRY = Registry()


@pytest.mark.parametrize(
    ("kind", "use", "name", "value", "range_in_words"),
    [
        ("estimator", "hutchinson", "probes", 0, "a whole number from 1"),
        ("estimator", "hutch++", "probes", 2, "a whole number from 3"),
        ("estimator", "hutch++", "degree", -1, "a whole number from 0"),
        ("estimator", "xtrace", "probes", 1, "a whole number from 2"),
        ("estimator", "lanczos", "steps", 0, "a whole number from 1"),
        ("estimator", "lanczos", "tolerance", 0.0, "positive"),
        ("estimator", "lanczos", "rank", -1, "a whole number from 0"),
        ("estimator", "chebyshev", "probes", 0, "a whole number from 1"),
        ("estimator", "peer-imate", "probes", 0, "a whole number from 1"),
        ("distribution", "optimal", "mean", math.inf, "positive and finite"),
        ("distribution", "negative-binomial", "mean", math.inf, "positive and finite"),
        ("distribution", "geometric", "mean", math.inf, "positive and finite"),
        ("distribution", "poisson", "mean", math.inf, "positive and finite"),
        ("distribution", "oracle", "mean", math.inf, "positive and finite"),
        ("distribution", "negative-binomial", "shape", 0, "positive"),
        ("distribution", "deterministic", "degree", -1, "a whole number from 0"),
        ("problem", "gp-hyperparameters", "points", 1, "a whole number from 2 or nothing"),
        ("problem", "gp-hyperparameters", "noise", 0.0, "positive or nothing"),
        ("problem", "matrix-completion", "weight", 0.0, "positive"),
        ("problem", "matrix-completion", "smoothing", -1.0, "positive or nothing"),
        ("problem", "spectral-sum", "size", 0, "a whole number from 1"),
        ("problem", "spectral-sum", "length", 0.0, "positive"),
        ("problem", "spectral-sum", "dimension", 0, "a whole number from 1"),
        ("problem", "spectral-sum", "shift", math.nan, "finite"),
        ("problem", "spectral-sum", "exponent", math.nan, "finite"),
        ("problem", "spectral-quadratic", "curvature", 0.0, "positive"),
    ],
)
def test_a_value_outside_of_its_range_is_refused(kind, use, name, value, range_in_words):
    with pytest.raises(BenchfwError, match=re.escape(f"{name} must be {range_in_words}, got {value!r}")):
        REGISTRY.build(kind, {"use": use, name: value})
