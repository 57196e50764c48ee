"""Hutchinson's estimator of the trace of a polynomial."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from benchfw import Array, BenchfwError, Claims, Count, Rng, SpectralSum
from benchfw.kernels import namespace
from benchfw_spectral.kernels.chebyshev import chebyshev_forms
from benchfw_spectral.oracles import Estimate, operator_of
from benchfw_spectral.probes import AnyKind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class Hutchinson:
    """The mean of v'p(A)v over random probes v, for p(x) = c_0 + c_1 x + c_2 x² + … (Hutchinson 1990).

    Unbiased for tr p(A), and so for tr f(A) only where f is p. Degree n costs n/2 products a probe. The
    variance over M probes is 2/M times the squared entries of p(A): all of them for Gaussian probes, those
    off the diagonal for Rademacher.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    polynomial: tuple[float, ...] = (0.0, 1.0)
    """The coefficients c_0, c_1, …"""
    probe: AnyKind = "rademacher"
    """Law of their entries; "basis" takes every axis instead, without randomness."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False, averages="probes")

    def __post_init__(self) -> None:
        if not len(self.polynomial) or not np.isfinite(self.polynomial).all():
            raise BenchfwError(f"polynomial must be one or more finite coefficients, got {self.polynomial}")

    def draw(self, problem: SpectralSum, rng: Rng) -> ValueDraw:
        """Draw the probes; return their mean of v'p(A)v."""
        probes = draw_probes(problem, rng, self.probes, self.probe)
        return ValueDraw(problem, partial(self._trace, probes))

    def _trace(self, probes: Array, matrix: Any) -> Estimate:
        powers = np.polynomial.Polynomial(self.polynomial)
        series = powers.convert(domain=matrix.interval, kind=np.polynomial.Chebyshev).coef
        forms = chebyshev_forms(probes, operator_of(matrix), len(series) - 1, matrix.interval)
        return mean_of(namespace(probes).asarray(series) @ forms, self.probe)
