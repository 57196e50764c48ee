"""A projection that goes on when it is applied again."""

from benchfw import hookimpl


class NotIdempotent:
    """A bowl around a random point, in the ball of radius 2; there are some of them.

    Parameters:
      num_samples: how many samples.
    """

    def __init__(self, backend, rng, *, num_samples: int = 10):
        self.backend, self.cost, self.num_samples = backend, 0.0, num_samples
        self._centres = 0.3 * rng.standard_normal((num_samples, 3))

    def start(self):
        return self.backend.xp.full(3, 0.5)

    def value(self, params):
        self.cost += 1.0
        return self._value(params)

    def grad(self, params):
        self.cost += 1.0
        return params - self._centres.mean(axis=0)

    def grad_batch(self, params, batch):
        self.cost += batch.shape[0] / self.num_samples
        return params - self._centres[batch].mean(axis=0)

    def project(self, params):
        length = float((params @ params) ** 0.5)
        return params if length <= 1 else params * ((1 + length) / (2 * length))

    def metrics(self, answer):
        return {"objective": self._value(answer)}

    def _value(self, params):
        return float(((params - self._centres) ** 2).sum(axis=1).mean()) / 2


@hookimpl
def register_problems(register):
    register("not_idempotent", NotIdempotent)
