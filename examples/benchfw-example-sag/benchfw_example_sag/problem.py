"""A problem for benchfw: example-sag-problem.

`benchfw check benchfw_example_sag/problem.py` says whether its oracles agree with each other.
To solve it, add a table [[problem]] with use = "example-sag-problem" to a suite,
and run that with --plugin benchfw_example_sag/problem.py.
"""

from benchfw import hookimpl


class ExampleSagProblem:
    """Half the mean squared distance to `samples` random points in `size` dimensions, over the unit ball."""

    cost_unit = "gradients"
    check_with = ({"samples": 10, "size": 4},)  # what `benchfw check` builds: small and quick

    def __init__(self, backend, rng, *, samples: int = 100, size: int = 10):
        self.backend = backend
        self.cost = 0.0  # every oracle adds to it: no method can misreport its calls
        self.num_samples = samples
        self._points = 1.0 + rng.standard_normal((samples, size))  # from rng: the same on every backend
        self._centre = self._points.mean(axis=0)
        self.optimum = self.project(self._centre)

    def start(self):
        """Return where methods start."""
        return self.backend.xp.zeros_like(self._centre)

    def value(self, params):
        """Return f."""
        self.cost += 1.0
        return self._value(params)

    def grad(self, params):
        """Return the gradient of f."""
        self.cost += 1.0
        return params - self._centre

    def grad_batch(self, params, batch):
        """Return the mean gradient of these samples."""
        self.cost += batch.shape[0] / self.num_samples
        return params - self._points[batch].mean(axis=0)

    def project(self, params):
        """Return the nearest feasible point."""
        return params / max(1.0, float((params @ params) ** 0.5))

    def metrics(self, answer):
        """Return named measures of an answer, lower is better; off the clock, and not counted."""
        return {"gap": max(0.0, self._value(answer) - self._value(self.optimum))}

    def _value(self, params):
        return float(((params - self._points) ** 2).sum(axis=1).mean()) / 2


@hookimpl
def register_problems(register):
    """Tell benchfw the name."""
    register("example-sag-problem", ExampleSagProblem)
