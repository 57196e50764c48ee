"""The negative binomial law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchfw import Positive, Rng
from benchfw_spectral.distributions.inversion import draw
from benchfw_spectral.distributions.tails import log_tails
from benchfw_spectral.functions.function import Falloff


@dataclass(frozen=True)
class NegativeBinomial:
    """Failures before success number r of probability p = r/(N+r): t_j = I_{1-p}(j, r).

    The variance is finite where N/(N+r) > ρ^-2.
    """

    mean: Positive = 20.0
    """The mean degree, N."""
    shape: Positive = 5.0
    """The number of successes, r; any positive number."""

    unbiased: ClassVar[bool] = True

    def survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return t_j = P(n >= j)."""
        return np.exp(self.log_survival(degree, decay))

    def log_survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return log t_j, finite however small the tail."""
        from scipy.special import betainc, betaln  # late: it takes longer than everything else here

        mean, shape = self.mean, self.shape
        failure, success = mean / (mean + shape), shape / (mean + shape)
        log_failure, log_success = -math.log1p(shape / mean), -math.log1p(mean / shape)
        return log_tails(
            degree,
            mean,
            tail=lambda j: betainc(j, shape, failure),
            head=lambda j: betainc(shape, j, success),
            log_mass=lambda j: (
                shape * log_success + j * log_failure - betaln(j + 1, shape) - np.log(j + shape)
            ),
            ratio=lambda i: failure * (i + shape) / (i + 1),
            limit=failure,
        )

    def falloff(self, decay: float | None = None) -> Falloff:
        """Return how t_j falls: like (N/(N+r))^j."""
        return Falloff(0, -math.log1p(self.shape / self.mean))

    def sample(self, rng: Rng, decay: float | None = None, size: Any = None) -> Any:
        """Return degrees: int64, or an int where `size` is None."""
        return draw(self, rng, size)
