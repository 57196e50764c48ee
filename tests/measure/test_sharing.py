"""Arrays that a problem's code refers to are found, so that a method cannot change them unnoticed."""

import functools

import numpy as np
import pytest

from benchfw.adapters import Oracles, ProblemMaker
from benchfw.measure.sharing import shared_arrays

TABLE, PARTS, UNUSED = np.ones(3), {"whole": [np.ones(4)]}, np.ones(9)


class Weights:
    def __init__(self):
        self.inside = np.ones(5)


WEIGHTS = Weights()


def helper(x):
    return x @ TABLE


class Base:
    scale = np.ones(2)

    @property
    def optimum(self):
        return PARTS["whole"][0]


class Bowl(Base):
    def __init__(self, _backend=None, _rng=None):
        self.own = np.ones(8)

    def value(self, x):
        return max(helper(each) + WEIGHTS.inside.sum() for each in [x])


def lengths_in(factory):
    return sorted(len(each) for each in shared_arrays(factory))


@pytest.mark.parametrize("factory", [Bowl, ProblemMaker(Bowl, "nothing"), ProblemMaker(Bowl(), "copied")])
def test_the_arrays_of_a_problem_are_those_of_its_classes_and_of_what_their_functions_name(factory):
    assert lengths_in(factory) == [2, 3, 4, 5]


def test_functions_given_as_a_problem_share_what_they_close_over_and_default_to():
    closed = np.ones(6)
    oracles = {
        "value": lambda x, more=UNUSED: closed @ x + more.sum(),
        "grad": functools.partial(helper),
        "prox": Bowl().value,
        "start": np.ones(8),
    }
    assert lengths_in(ProblemMaker(Oracles(oracles), "copied")) == [3, 5, 6, 9]


def test_an_array_that_cannot_be_written_is_not_copied():
    fixed = np.ones(6)
    fixed.flags.writeable = False
    assert lengths_in(ProblemMaker(Oracles({"value": lambda x: x @ fixed}), "copied")) == []
