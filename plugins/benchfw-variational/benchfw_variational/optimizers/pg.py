"""Proximal-gradient variational inference with all examples, expectations exact or by Monte Carlo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar, Literal

from benchfw import Count, Log, Positive, Rng
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import DualPosterior
from benchfw_variational.proximal_step import Form, proximal_path


@dataclass(frozen=True)
class PG:
    """Proximal gradients (Khan et al. 2015): steps of size β on all examples, exact expectations.

    Where a loss is not convex (student-t), negative curvatures are taken as 0, and the steps end at another
    place than the least bound.
    """

    step: Positive = 1.0
    """β."""
    form: Form = "approximate"
    """"approximate" moves the mean by the new precisions (eq. 19), "exact" by the decayed ones (eq. 82: the
    proximal step itself, for two factors a step)."""

    solves: ClassVar[type] = LatentGaussian
    tuning: ClassVar[dict[str, Log]] = {"step": Log(0.01, 100)}

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield q_0 = prior, q_1, …, one a pass."""
        return proximal_path(problem, rng, repeat(None), step=self.step, form=self.form)


@dataclass(frozen=True)
class PGMC:
    """PG-MC (Khan et al. 2016, §7.1.1): steps of size β on all examples, sampled expectations."""

    step: Positive = 1.0
    """β."""
    samples: Count = 500
    """Draws of the latent value of each example."""
    expectation: Literal["score-function", "reparameterization"] = "score-function"
    """How expectations of the likelihood are estimated."""
    form: Form = "approximate"
    """"approximate" moves the mean by the new precisions (eq. 19), "exact" by the decayed ones (eq. 82: the
    proximal step itself, for two factors a step)."""

    solves: ClassVar[type] = LatentGaussian
    tuning: ClassVar[dict[str, Log]] = {"step": Log(0.01, 100)}

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield q_0 = prior, q_1, …, one a pass."""
        return proximal_path(
            problem,
            rng,
            repeat(None),
            step=self.step,
            expectation=self.expectation,
            samples=self.samples,
            form=self.form,
        )
