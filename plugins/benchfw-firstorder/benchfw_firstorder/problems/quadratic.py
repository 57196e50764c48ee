"""A quadratic whose spectrum, optimum and constants are known exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from benchfw import Array, Backend, Constants, Count, CountedProblem, Range, Rng, clip_gap
from benchfw_firstorder.problems.synthetic import log_spaced, reflect


class Quadratic(CountedProblem):
    """A quadratic with a known spectrum.

    F(x) = ½(x-x*)'H(x-x*), from x = 0. A gradient is one product with H and costs 1; so does a value.

    Parameters:
      size: dimensions of x.
      condition: eigenvalues of a rotated H go from 1/condition to 1.
      matrix: "rotated": eigenvalues evenly spaced in the logarithm, eigenvectors a random reflection of
        the axes, x* normal of length about 1. "chain": H tridiagonal (-1, 2, -1)/4 and Hx* = e_1/4,
        fixed by the size alone: after k < size gradients no method that adds them up has a gap below
        (1/(k+1) - 1/(size+1))/8. Nesterov 2018, 2.1.2.
    """

    check_with = ({"size": 12}, {"size": 12, "matrix": "chain"})

    cost_unit = "gradients"
    quadratic = True
    penalized = False

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        size: Count = 100,
        condition: Annotated[float, Range(least=1)] = 100.0,
        matrix: Literal["rotated", "chain"] = "rotated",
    ) -> None:
        self.backend = backend
        xp = backend.xp
        if matrix == "chain":
            self.hessian = (2 * xp.eye(size) - xp.eye(size, k=1) - xp.eye(size, k=-1)) / 4
            self.optimum = 1 - xp.arange(1, size + 1, dtype=xp.float64) / (size + 1)
            largest = (1 + math.cos(math.pi / (size + 1))) / 2
            smallest = (1 - math.cos(math.pi / (size + 1))) / 2
        else:
            direction = rng.standard_normal(size)
            rotated = reflect(xp.diag(log_spaced(backend, 1.0, condition, size)), direction)
            rotated = reflect(rotated.T, direction)
            self.hessian = (rotated + rotated.T) / 2
            self.optimum = rng.standard_normal(size) / size**0.5
            largest, smallest = 1.0, 1 / condition if size > 1 else 1.0
        self.hessian, self.optimum = map(backend.read_only, (self.hessian, self.optimum))
        self.constants = Constants(
            smoothness=largest, strong_convexity=smallest, distance=float(xp.linalg.norm(self.optimum))
        )

    def start(self) -> Array:
        """Return the origin."""
        return self.backend.xp.zeros_like(self.optimum)

    def value(self, params: Array) -> float:
        """Return F; one product with H, as a gradient."""
        self._count(1.0)
        return self._gap(params)

    def grad(self, params: Array) -> Array:
        """Return H(x - x*)."""
        self._count(1.0)
        return self.hessian @ (params - self.optimum)

    def value_and_grad(self, params: Array) -> tuple[float, Array]:
        """Return F and its gradient: one product with H for both."""
        gradient = self.grad(params)
        return max(0.0, float(gradient @ (params - self.optimum)) / 2), gradient

    def hessp(self, params: Array, direction: Array) -> Array:
        """Return H times a direction."""
        self._count(1.0)
        return self.hessian @ direction

    subgrad = grad

    def project(self, params: Array) -> Array:
        """Return the parameters: every point is feasible."""
        return params

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return gap F(x) - F*, objective (the same: F* = 0), and distance |x - x*|."""
        gap = self._gap(answer)
        return {
            "gap": gap,
            "objective": gap,
            "distance": float(self.backend.xp.linalg.norm(answer - self.optimum)),
        }

    def _gap(self, params: Array) -> float:
        difference = params - self.optimum
        return clip_gap(float(difference @ (self.hessian @ difference)) / 2, 0.0)
