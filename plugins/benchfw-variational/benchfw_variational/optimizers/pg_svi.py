"""Proximal-gradient stochastic variational inference."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, repeat
from typing import ClassVar, Literal

from benchfw import Array, BenchfwError, Count, Log, NonNegative, Positive, Rng
from benchfw_variational.batches import Expectation, passes
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import DualPosterior
from benchfw_variational.proximal_step import Form, proximal_path


@dataclass(frozen=True)
class PGSVI:
    """PG-SVI (Khan et al. 2016, eq. 19): proximal-gradient steps of size β on mini-batches.

    Curvatures that are negative, estimated or of a loss that is not convex (student-t), are taken as 0, which
    moves the place where the steps end away from the least bound.
    """

    step: Positive | None = None
    """β itself, 0.01 if neither it nor rho is given; the paper's table gives β n."""
    rho: Positive | None = None
    """ρ = β n/batch in place of β: with the same ρ a pass renews the same part 1 - e^-ρ of the precisions,
    whatever the batch."""
    schedule: Literal["constant", "falling", "growing"] = "constant"
    """How β or ρ goes from pass to pass, p = 0, 1, …: it is divided ("falling") or multiplied ("growing")
    by 1 + change p."""
    change: NonNegative = 1.0
    """How fast β or ρ falls or grows."""
    cap: Positive | None = None
    """The most that β or ρ grows to."""
    batch: Count = 5
    """Examples a step, in an order redrawn each pass."""
    expectation: Expectation = "exact"
    """How expectations of the likelihood are found; "exact" takes no samples."""
    samples: Count = 500
    """Draws of an expectation that is not exact."""
    form: Form = "approximate"
    """"approximate" moves the mean by the new precisions (eq. 19), "exact" by the decayed ones (eq. 82: the
    proximal step itself, for two factors a step)."""
    stride: int | None = None
    """Takes the examples of every pass in the order stride·i mod n instead."""
    refactor: Count = 1
    """Steps after which the covariance, stored whole, is factored again; variances are right to 1e-12 of the
    prior's. About 4 pays for batches of 20 of 900 examples, 10 for smaller ones of more."""

    solves: ClassVar[type] = LatentGaussian
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 1)}

    def __post_init__(self) -> None:
        if self.step is not None and self.rho is not None:
            raise BenchfwError("step = β and rho = β n/batch are one number; give one of them")

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield q_0 = prior, q_1, …, one after each mini-batch."""
        return proximal_path(
            problem,
            rng,
            self._batches(problem, rng),
            step=self._steps(problem.num_samples),
            expectation=self.expectation,
            samples=self.samples,
            form=self.form,
            refactor=self.refactor,
        )

    def _steps(self, size: int) -> Iterator[float]:
        """Yield β of each batch."""
        batch = min(self.batch, size)
        start, unit = (self.step or 0.01, 1.0) if self.rho is None else (self.rho, batch / size)
        for number in count():
            factor = 1 + self.change * number
            value = {"constant": start, "falling": start / factor, "growing": start * factor}[self.schedule]
            yield from repeat(unit * min(value, self.cap or math.inf), math.ceil(size / batch))

    def _batches(self, problem: LatentGaussian, rng: Rng) -> Iterator[Array]:
        size = problem.num_samples
        if self.stride is not None and math.gcd(self.stride, size) != 1:
            raise BenchfwError(
                f"stride {self.stride} does not visit all {size} examples; take one that shares no factor "
                f"with {size}"
            )
        if self.stride is None:
            yield from passes(lambda: rng.permutation(size), self.batch)
        else:
            order = self.stride * problem.backend.xp.arange(size) % size
            yield from passes(lambda: order, self.batch)
