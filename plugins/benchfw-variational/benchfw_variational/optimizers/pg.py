"""Proximal-gradient variational inference with all examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar

from benchfw import Positive, Rng
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

    def run(self, problem: LatentGaussian, rng: Rng) -> Iterator[DualPosterior]:
        """Yield q_0 = prior, q_1, …, one a pass."""
        return proximal_path(problem, rng, repeat(None), step=self.step, form=self.form)
