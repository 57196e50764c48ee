"""One degree for every draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from benchfw import Range, Rng
from benchfw_spectral.functions.function import Falloff


@dataclass(frozen=True)
class Deterministic:
    """n is always the same: the truncated series, biased unless f is a polynomial of no higher degree."""

    degree: Annotated[int, Range(least=0)] = 20
    """The degree of every draw."""

    unbiased: ClassVar[bool] = False

    @property
    def mean(self) -> int:
        """The degree itself."""
        return self.degree

    def survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return 1 up to the degree, 0 beyond."""
        return np.where(np.asarray(degree) <= self.degree, 1.0, 0.0)

    def log_survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return 0 up to the degree, -inf beyond."""
        return np.where(np.asarray(degree) <= self.degree, 0.0, -np.inf)

    def falloff(self, decay: float | None = None) -> Falloff:
        """Return that of a sequence that ends."""
        return Falloff(math.inf, 0.0)

    def sample(self, rng: Rng, decay: float | None = None, size: Any = None) -> Any:
        """Return the degree, `size` times; draws nothing."""
        return int(self.degree) if size is None else np.full(size, self.degree, dtype=np.int64)
