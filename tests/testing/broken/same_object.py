"""A search of its own kind of problem that yields one object again and again."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchfw import CountedProblem, Problem, hookimpl


class Tours(Problem, Protocol):
    """Cities, and the length of a tour through them."""

    def length(self, tour): ...


class Tour:
    """An order of the cities."""

    def __init__(self, order):
        self.order = order


class Salesman(CountedProblem):
    """Random cities."""

    cost_unit = "tours"

    def __init__(self, backend, rng):
        self.backend, self.places = backend, rng.standard_normal((12, 2))

    def length(self, tour):
        self._count(1)
        return self._length(tour)

    def _length(self, tour):
        places = self.places[tour.order]
        return float(np.linalg.norm(places - np.roll(places, 1, axis=0), axis=1).sum())

    def metrics(self, answer):
        return {"length": self._length(answer)}


@dataclass(frozen=True)
class Reversing:
    """Reverses a piece of the tour where that makes it shorter."""

    solves = Tours

    def run(self, problem, rng):
        best = Tour(list(range(12)))
        value = problem.length(best)
        while True:
            yield best
            first, last = sorted((rng.integers(12), rng.integers(12)))
            order = [*best.order[:first], *best.order[first:last][::-1], *best.order[last:]]
            length = problem.length(Tour(order))
            if length < value:
                best.order, value = order, length


@hookimpl
def register_problems(register):
    register("salesman", Salesman)


@hookimpl
def register_optimizers(register):
    register("reversing", Reversing)
