"""An answer is of the shape and kind of the start."""

from dataclasses import dataclass

import numpy as np
import pytest

from benchfw.errors import BenchfwError
from benchfw.measure.answers import check_alike

START = np.zeros(30)


@dataclass
class Predictor:
    weights: np.ndarray


class Foreign:
    """An array of another library."""

    shape, dtype = (30,), "float64"


@pytest.mark.parametrize(
    ("start", "answer", "sentence"),
    [
        (START, np.zeros((1, 30)), r"answer 12 has shape \(1, 30\), the start has \(30,\); yield answers"),
        (START, 0.0, r"answer 12 has shape \(\), the start has \(30,\)"),
        (START, START + 0j, "answer 12 has complex numbers, the start has real ones"),
        (START, START.astype(int), "answer 12 has integer numbers, the start has real ones"),
        (START, START.astype(object), "answer 12 has object numbers"),
        (START, [0.0] * 30, "answer 12 is list, the start is numpy's ndarray"),
        (START, Foreign(), "answer 12 is tests's Foreign, the start is numpy's ndarray"),
        ((START, 1.0), (START, START), r"has shape \(30,\), the start has \(\)"),
        ((START, 1.0), (START,), "has the parts 0, the start has 0, 1"),
        ({"a": START}, {"b": START}, "has the parts b, the start has a"),
        (Predictor(START), START, "is numpy's ndarray, the start is tests's Predictor"),
        (1.0, None, "is NoneType, the start is float"),
    ],
)
def test_another_shape_or_kind_is_refused(start, answer, sentence):
    with pytest.raises(BenchfwError, match=sentence):
        check_alike(start, answer, 12)


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        (START, np.ones(30, np.float32)),
        (np.zeros(30, int), np.ones(30)),  # a start of whole numbers
        (0, 0.5),
        (1.0, np.float64(0.5)),
        (1.0, np.array(0.5)),
        ((START, {"a": 1.0}), (START, {"a": 2.0})),
        (Predictor(np.zeros((0, 3))), Predictor(np.zeros((5, 3)))),  # a predictor may grow
        (None, START),
    ],
)
def test_the_same_shape_and_kind_is_taken(start, answer):
    check_alike(start, answer, 1)
