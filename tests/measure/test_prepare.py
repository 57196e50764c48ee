"""What a method prepares is off its clock, measured, and shown."""

from dataclasses import dataclass, field, replace

import pytest

from benchfw import CountedProblem, Smooth
from benchfw.backends import get_backend
from benchfw.errors import PluginError
from benchfw.measure.trial import prepare_method


class Bowl(CountedProblem):
    backend = get_backend("numpy")

    def grad(self, params):
        self._count(1)
        return params


@dataclass(frozen=True)
class Anchored:
    scale: float = 1.0
    slope: float | None = None
    solves = Smooth

    def prepare(self, problem):
        return replace(self, slope=self.scale * problem.grad(2.0))

    def draw(self, problem, rng):
        return lambda _: self.slope


@dataclass(frozen=True)
class Slide:
    estimator: Anchored = Anchored()
    factors: dict = field(default_factory=dict)
    solves = Smooth

    def run(self, problem, rng):
        yield self.estimator.slope


def test_nothing_is_measured_where_there_is_nothing_to_prepare():
    method = Slide(estimator=None)
    assert prepare_method(method, Bowl(), "run") == (method, None, None)


def test_a_method_and_those_in_its_fields_are_prepared_and_paid_for():
    problem = Bowl()
    ready = prepare_method(Slide(Anchored(3.0)), problem, "run")
    assert next(ready.method.run(problem, None)) == 6
    assert ready.seconds >= 0
    assert (ready.cost, problem.cost) == (1, 1)


def test_what_is_returned_must_run():
    class Silent(Anchored):
        def prepare(self, problem):
            problem.grad(1.0)

    with pytest.raises(PluginError, match=r"prepare\(\) of Silent returned NoneType, without draw\(\)"):
        prepare_method(Silent(), Bowl(), "draw")
