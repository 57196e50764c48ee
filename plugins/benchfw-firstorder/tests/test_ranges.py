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
        ("optimizer", "gd", "step", 0.0, "positive or 'auto'"),
        ("optimizer", "heavy-ball", "momentum", 1.0, "at least 0 and below 1"),
        ("optimizer", "nesterov", "momentum", "fast", "at least 0 and below 1 or 'sequence'"),
        ("optimizer", "sgd", "schedule", "cosine", "'constant' or 'inverse' or 'inverse-sqrt' or 'power'"),
        ("optimizer", "sgd", "decay", -1.0, "at least 0"),
        ("optimizer", "svrg", "inner", 0, "a whole number from 1"),
        ("optimizer", "saga", "batch", 0, "a whole number from 1"),
        ("optimizer", "adam", "decay_square", 1.0, "at least 0 and below 1"),
        ("optimizer", "adagrad", "epsilon", 0.0, "positive"),
        ("optimizer", "lbfgs", "memory", 0, "a whole number from 1"),
        ("estimator", "minibatch", "size", 0, "a whole number from 1"),
        ("estimator", "svrg", "anchor_steps", -1, "a whole number from 0"),
        ("problem", "quadratic", "size", 0, "a whole number from 1"),
        ("problem", "quadratic", "condition", 0.5, "at least 1"),
        ("problem", "least-squares", "noise", -1.0, "at least 0"),
        ("problem", "logistic-regression", "ridge", 0.0, "positive"),
        ("problem", "logistic-regression", "noise", 1.5, "from 0 to 1"),
    ],
)
def test_a_value_outside_of_its_range_is_refused(kind, use, name, value, range_in_words):
    with pytest.raises(BenchfwError, match=re.escape(f"{name} must be {range_in_words}, got {value!r}")):
        REGISTRY.build(kind, {"use": use, name: value})
