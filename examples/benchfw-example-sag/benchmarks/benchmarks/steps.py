"""The time of a hundred steps."""

from itertools import islice

from benchfw.backends import get_backend
from benchfw.testing.problems import Quadratic
from benchfw_example_sag.optimizer import ExampleSag


class Steps:
    """ExampleSag on a small quadratic: what a step costs beside the gradient."""

    def setup(self):
        backend = get_backend("numpy")
        self.problem, self.rng = Quadratic(backend, backend.rng(1)), backend.rng(2)

    def time_hundred_steps(self):
        for _ in islice(ExampleSag().run(self.problem, self.rng), 100):
            pass
