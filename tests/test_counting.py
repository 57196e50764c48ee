"""Problems count their oracle calls; methods read the count and declare, and cannot set it."""

import copy
import math

import pytest

from benchfw import CountedProblem
from benchfw.counting import check_counted
from benchfw.errors import PluginError


class Bowl(CountedProblem):
    def grad(self, params, price=1.0):
        self._count(price)
        return params


def test_methods_read_the_cost_and_cannot_write_it():
    problem = Bowl()
    problem.grad(0.0)
    problem.grad(0.0, 0.25)
    assert problem.cost == 1.25
    with pytest.raises(PluginError, match=r"problem\.cost is read-only.* by problem\.charge\(amount\)"):
        problem.cost -= 1
    with pytest.raises(PluginError, match=r"the oracles of Bowl count their calls"):
        problem.cost = 0
    assert (problem.cost, problem.declared_cost) == (1.25, 0)
    problem.charge(3)
    assert (problem.cost, problem.declared_cost) == (4.25, 3)


@pytest.mark.parametrize("amount", [-1, math.nan, math.inf])
def test_no_call_costs_less_than_nothing(amount):
    problem = Bowl()
    for call in (problem.charge, lambda price: problem.grad(0.0, price)):
        with pytest.raises(PluginError, match="a cost is a number from 0"):
            call(amount)
    assert problem.cost == problem.declared_cost == 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_what_a_copy_is_asked_counts(copied):
    problem = Bowl()
    twin = copied(problem)
    twin.grad(0.0)
    copied(twin).charge(2)
    assert (problem.cost, problem.declared_cost) == (twin.cost, twin.declared_cost) == (3, 2)
    assert Bowl().cost == 0


def test_a_problem_may_ask_itself_without_counting():
    problem = Bowl()
    problem.grad(0.0)
    with problem._uncounted():
        problem.grad(0.0)
        problem.charge(7)
    assert (problem.cost, problem.declared_cost) == (1, 0)


def test_a_cost_that_methods_could_write_is_refused():
    class Plain:
        def __init__(self):
            self.cost = 0.0

    class Shared:
        cost = 0.0

    class Wrapped:
        @property
        def cost(self):
            return 1.0

    check_counted(Bowl)
    check_counted(Wrapped)
    for each in (Plain, Shared):
        with pytest.raises(PluginError, match=f"methods could write the cost of {each.__name__}; derive it"):
            check_counted(each)
