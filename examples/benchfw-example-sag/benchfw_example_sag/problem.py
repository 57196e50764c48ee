"""A problem for benchfw: example-sag-problem.

`benchfw check benchfw_example_sag` says whether its oracles agree with each other.
To solve it, add a table [[problem]] with use = "example-sag-problem" to a suite,
and run that with --plugin benchfw_example_sag.
"""

from benchfw import Count, CountedProblem, Positive, clip_gap, hookimpl


class ExampleSagProblem(CountedProblem):
    """Half the mean weighted squared distance to random points, over a box.

    Parameters:
      samples: how many points.
      size: in how many dimensions.
      condition: the weights fall from 1 to 1 / condition; the larger, the more steps a gradient method needs.
    """

    cost_unit = "gradients"
    check_with = ({"samples": 10, "size": 4},)  # what `benchfw check` builds: small and quick

    def __init__(self, backend, rng, *, samples: Count = 100, size: Count = 10, condition: Positive = 20.0):
        self.backend = backend
        self.num_samples = samples
        self._points = 1.0 + rng.standard_normal((samples, size))  # from rng: the same on every backend
        self._centre = self._points.mean(axis=0)
        self._weights = condition ** -backend.xp.linspace(0.0, 1.0, size)
        self.optimum = self.project(self._centre)  # exact, since f is a sum over coordinates

    def start(self):
        """Return where methods start."""
        return self.backend.xp.zeros_like(self._centre)

    def value(self, params):
        """Return f."""
        self._count(1.0)
        return self._value(params)

    def grad(self, params):
        """Return the gradient of f."""
        self._count(1.0)
        return self._weights * (params - self._centre)

    def grad_batch(self, params, batch):
        """Return the mean gradient of these samples."""
        self._count(batch.shape[0] / self.num_samples)
        return self._weights * (params - self._points[batch].mean(axis=0))

    def project(self, params):
        """Return the nearest feasible point."""
        return self.backend.xp.clip(params, -1.0, 1.0)

    def metrics(self, answer):
        """Return named measures of an answer, lower is better; off the clock, and not counted."""
        least = self._value(self.optimum)
        return {"gap": clip_gap(self._value(answer) - least, least)}  # 0 where it is negative by rounding

    def _value(self, params):
        return float(((params - self._points) ** 2 @ self._weights).mean()) / 2


@hookimpl
def register_problems(register):
    """Register the name."""
    register("example-sag-problem", ExampleSagProblem)
