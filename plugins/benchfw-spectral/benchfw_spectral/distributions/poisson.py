"""The Poisson law."""

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
class Poisson:
    """t_j = γ(j, N)/Γ(j) for the mean N: falls faster than geometric series, of infinite variance then."""

    mean: Positive = 20.0
    """The mean degree, N."""

    unbiased: ClassVar[bool] = True

    def survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return t_j = P(n >= j)."""
        return np.exp(self.log_survival(degree, decay))

    def log_survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return log t_j, finite however small the tail."""
        from scipy.special import gammainc, gammaincc, gammaln  # late: it takes longer than everything else

        mean = self.mean
        return log_tails(
            degree,
            mean,
            tail=lambda j: np.asarray(gammainc(j, mean), dtype=np.float64),
            head=lambda j: np.asarray(gammaincc(j, mean), dtype=np.float64),
            log_mass=lambda j: j * math.log(mean) - mean - gammaln(j + 1),
            ratio=lambda i: mean / (i + 1),
            limit=0.0,
        )

    def falloff(self, decay: float | None = None) -> Falloff:
        """Return how t_j falls: like N^j / j!."""
        return Falloff(1, math.log(self.mean))

    def sample(self, rng: Rng, decay: float | None = None, size: Any = None) -> Any:
        """Return degrees: int64, or an int where `size` is None."""
        return draw(self, rng, size)
