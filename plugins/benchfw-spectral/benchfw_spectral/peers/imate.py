"""The library imate (Ameli & Shadden)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from benchfw import Claims, Count, Rng, SpectralSum
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.peers import check_function, import_peer, stored_matrix
from benchfw_spectral.probes import ValueDraw, mean_of

CALLS = {"log": "logdet", "inverse": "traceinv"}


@dataclass(frozen=True)
class PeerImate:
    """Lanczos quadrature by imate, in C++: log and inverse, with probes of its own.

    It multiplies by itself; probes x steps products are counted.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    steps: Count = 20
    """Lanczos steps a probe."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: Any, rng: Rng) -> ValueDraw:
        """Draw a seed; return what imate finds with it."""
        library = import_peer("imate", "imate")
        check_function(problem, "peer-imate", tuple(CALLS))
        call = partial(
            getattr(library, CALLS[problem.function.name]),
            stored_matrix(problem, "peer-imate"),
            method="slq",
            min_num_samples=self.probes,
            max_num_samples=self.probes,
            lanczos_degree=self.steps,
            seed=rng.integers(1 << 31),
            return_info=True,
        )
        return ValueDraw(problem, partial(self._trace, call))

    def _trace(self, call: Any, problem: Any) -> Estimate:
        problem.charge(self.probes * self.steps)
        _, found = call()
        samples = np.asarray(found["convergence"]["samples"]).ravel()
        return mean_of(samples[np.isfinite(samples)])
