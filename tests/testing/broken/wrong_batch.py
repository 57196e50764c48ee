"""A batch gradient that is a sum and no mean."""

from benchfw import CountedProblem, hookimpl


class WrongBatch(CountedProblem):
    """A bowl around a random point, in the ball of radius 2; there are some of them.

    Parameters:
      num_samples: how many samples.
    """

    def __init__(self, backend, rng, *, num_samples: int = 10):
        self.backend, self.num_samples = backend, num_samples
        self._centres = 0.3 * rng.standard_normal((num_samples, 3))

    def start(self):
        return self.backend.xp.full(3, 0.5)

    def value(self, params):
        self._count(1.0)
        return self._value(params)

    def grad(self, params):
        self._count(1.0)
        return params - self._centres.mean(axis=0)

    def grad_batch(self, params, batch):
        self._count(batch.shape[0] / self.num_samples)
        return (params - self._centres[batch]).sum(axis=0)

    def project(self, params):
        length = float((params @ params) ** 0.5)
        return params if length <= 2 else params * (2 / length)

    def metrics(self, answer):
        return {"objective": self._value(answer)}

    def _value(self, params):
        return float(((params - self._centres) ** 2).sum(axis=1).mean()) / 2


@hookimpl
def register_problems(register):
    register("wrong_batch", WrongBatch)
