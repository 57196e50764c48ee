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
        ("optimizer", "dsg", "batch", 0, "a whole number from 1"),
        ("optimizer", "dsg", "step", -1.0, "positive or 'line-search'"),
        ("optimizer", "dsg", "step", math.nan, "positive or 'line-search' and finite"),
        ("optimizer", "cdsg", "step", "line-search", "positive"),
        ("optimizer", "dsg", "delay", -1.0, "at least 0"),
        ("optimizer", "dsg", "power", math.nan, "at least 0 and finite"),
        ("optimizer", "dsg", "preconditioner", 0.0, "positive or nothing"),
        ("optimizer", "udsg", "fresh", 0, "a whole number from 1"),
        ("optimizer", "udsg", "reuse", -1, "a whole number from 0"),
        ("optimizer", "cdsg", "noise", "none", "'per-batch' or 'literal' or 'rigorous'"),
        ("optimizer", "cdsg", "limit", 0.0, "positive or 'auto' or 'line-search'"),
        ("optimizer", "random-features-sgd", "features", 0, "a whole number from 1"),
        ("optimizer", "random-features-svrg", "memory", -1, "at least 0"),
        ("optimizer", "random-features-sgd", "batch", 0, "a whole number from 1"),
        ("optimizer", "random-features-svrg", "step", 0.0, "positive or 'auto'"),
        ("optimizer", "small-network", "width", 0, "a whole number from 1"),
        ("optimizer", "peer-falkon", "centres", 0, "a whole number from 1"),
        ("optimizer", "nystrom-ridge", "centres", 0, "a whole number from 1"),
        ("optimizer", "libsvm", "cache", 0.0, "positive"),
        ("estimator", "doubly-stochastic", "batch", 0, "a whole number from 1"),
        ("estimator", "doubly-stochastic", "features", 0, "a whole number from 1"),
        ("problem", "kernel-regression", "penalty", 0.0, "positive"),
        ("problem", "kernel-regression", "length", "mean", "positive or 'median' or 'median/sqrt2'"),
        ("problem", "kernel-regression", "length", -1.0, "positive or 'median' or 'median/sqrt2'"),
        ("problem", "kernel-regression", "components", -1, "a whole number from 0"),
        ("problem", "kernel-classification", "evaluation", 0, "a whole number from 1"),
        ("problem", "kernel-classification", "rows", 1, "a whole number from 2 or nothing"),
        ("problem", "kernel-regression", "epsilon", -0.1, "at least 0"),
    ],
)
def test_a_value_outside_of_its_range_is_refused(kind, use, name, value, range_in_words):
    with pytest.raises(BenchfwError, match=re.escape(f"{name} must be {range_in_words}, got {value!r}")):
        REGISTRY.build(kind, {"use": use, name: value})
