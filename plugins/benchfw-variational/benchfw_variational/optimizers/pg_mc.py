"""Proximal-gradient variational inference with all examples and Monte Carlo expectations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar, Literal

from benchfw import Rng
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import DualPosterior
from benchfw_variational.proximal_step import Form, check_options, proximal_path


@dataclass(frozen=True)
class PGMC:
    """PG-MC (Khan et al. 2016, §7.1.1): steps of size β = `step` on all examples, `samples` draws for each.

    `expectation` and `form` as for pg-svi.
    """

    step: float = 1.0
    samples: int = 500
    expectation: Literal["score-function", "reparameterization"] = "score-function"
    form: Form = "approximate"

    solves: ClassVar[type] = LatentGaussian

    def __post_init__(self) -> None:
        check_options(step=self.step, expectation=self.expectation, form=self.form, samples=self.samples)

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
