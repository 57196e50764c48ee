"""A problem whose accuracy rises, and a method that climbs as far as its parameters allow."""

from dataclasses import dataclass

from benchfw import CountedProblem, Smooth, hookimpl


class Hill(CountedProblem):
    """The answer is an accuracy; `evidence` is negative, and `first` the metric that comes first."""

    higher_is_better = ("accuracy", "evidence", "objective")

    def __init__(self, backend, rng, first: str = "accuracy"):
        self.backend, self.first = backend, first
        self.harder = 0.01 * abs(float(rng.standard_normal()))

    def start(self):
        return 0.1

    def value(self, params):
        self._count(1)
        return 1 - params

    def grad(self, _params):
        self._count(1)
        return -1.0

    def project(self, params):
        return params

    def metrics(self, answer):
        found = {
            "accuracy": answer - self.harder,
            "evidence": 30 * (answer - self.harder) - 100,
            "objective": answer - self.harder,
            "error": 1 - answer,
        }
        return {self.first: found[self.first], **found}


@dataclass(frozen=True)
class Climb:
    """Goes a share of the way to a level in each step; where that is, is a little random."""

    level: float = 0.9
    rate: float = 0.2
    steps: int = 1_000
    solves = Smooth

    def run(self, problem, rng):
        answer, top = problem.start(), self.level + 0.005 * float(rng.standard_normal())
        for _ in range(self.steps):
            yield answer
            answer = answer - self.rate * (top - answer) * problem.grad(answer)


class Misspelt(Hill):
    """Declares a metric that it does not have."""

    higher_is_better = ("acuracy",)


class Text(Hill):
    """Declares a text."""

    higher_is_better = "accuracy"


class Limited(Hill):
    """Says that no accuracy is above 0.5."""

    limits = {"accuracy": 0.5}  # noqa: RUF012 - as in a plugin


@hookimpl
def register_problems(register):
    for each in (Hill, Misspelt, Text, Limited):
        register(each.__name__.lower(), each)


@hookimpl
def register_optimizers(register):
    register("climb", Climb)
