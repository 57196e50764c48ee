"""A distribution whose mean is not the one it declares."""

from dataclasses import dataclass

import numpy as np

from benchfw import hookimpl


@dataclass(frozen=True)
class WrongMean:
    """P(n >= j) = (1 - 1/N)^j, as if the law began at 1, for the `mean` N."""

    mean: float = 4.0
    """The mean degree."""

    def survival(self, degree, decay):
        return (1 - 1 / self.mean) ** np.asarray(degree)

    def sample(self, rng, decay, size=None):
        found = np.floor(np.log(1 - np.asarray(rng.random(size))) / np.log(1 - 1 / self.mean)).astype(
            np.int64
        )
        return int(found) if size is None else found


@hookimpl
def register_distributions(register):
    register("wrong-mean", WrongMean)
