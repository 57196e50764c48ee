"""A problem as functions of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError, CountedProblem, VectorOracles
from benchfw.backends import get_backend

SHAPE = (2, 3)


class Matrix(CountedProblem):
    """Half the squared norm of a matrix of single precision, over a box."""

    backend = get_backend("numpy")
    box = (-1.0, np.full(SHAPE, 2.0))

    def start(self):
        return np.ones(SHAPE, dtype=np.float32)

    def value(self, params):
        self._count(0.5)
        return (params**2).sum() / 2

    def grad(self, params):
        assert (params.shape, params.dtype) == (SHAPE, np.float32)
        self._count(1.0)
        return params

    def hessp(self, _params, direction):
        self._count(2.0)
        return 2 * direction


class Both(Matrix):
    def value_and_grad(self, params):
        self._count(1.0)
        return (params**2).sum() / 2, params


def test_oracles_take_and_give_flat_vectors_of_double_precision_and_are_counted():
    problem = Matrix()
    oracles = VectorOracles(problem)
    point = np.arange(6.0)
    assert oracles.value(point) == 27.5
    np.testing.assert_array_equal(oracles.grad(point), point)
    np.testing.assert_array_equal(oracles.hessp(point, point), 2 * point)
    assert problem.cost == 3.5
    assert {each.dtype for each in (oracles.start, oracles.grad(point))} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(oracles.box, [np.full(6, -1.0), np.full(6, 2.0)])


@pytest.mark.parametrize(("make", "cost"), [(Matrix, 1.5), (Both, 1.0)])
def test_value_and_gradient_share_their_cost_where_the_problem_says_so(make, cost):
    problem = make()
    value, gradient = VectorOracles(problem).value_and_grad(np.arange(6.0))
    assert (value, gradient.tolist(), problem.cost) == (27.5, list(range(6)), cost)


def test_an_answer_is_a_copy_in_the_shape_and_type_of_the_start():
    point = np.arange(6.0)
    answer = VectorOracles(Matrix()).answer(point)
    point[:] = 0
    np.testing.assert_array_equal(answer, np.arange(6.0, dtype=np.float32).reshape(SHAPE))
    assert answer.dtype == np.float32


def test_parameters_that_are_no_array_are_refused():
    class Tree(Matrix):
        def start(self):
            return {"a": 1.0}

    with pytest.raises(BenchfwError, match="the parameters of Tree are dict, not an array"):
        VectorOracles(Tree())
