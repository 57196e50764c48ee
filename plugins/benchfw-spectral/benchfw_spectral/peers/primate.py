"""The library primate (Piekenbrock; on PyPI scikit-primate)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from benchfw import Array, Claims, Count, Rng, SpectralSum
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.peers import import_peer, stored_matrix
from benchfw_spectral.probes import Kind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class PeerPrimate:
    """Lanczos quadrature by primate, one probe after the other: any function.

    It multiplies by itself; probes x steps products are counted.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    steps: Count = 20
    """Lanczos steps a probe."""
    probe: Kind = "rademacher"
    """Law of their entries."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: Any, rng: Rng) -> ValueDraw:
        """Draw the probes; return what primate makes of them."""
        operators = import_peer("primate.operators", "scikit-primate")
        matrix = stored_matrix(problem, "peer-primate")
        # orth=0: else primate 0.5.6 orthogonalizes a probe's basis against that of the probe before
        function = operators.MatrixFunction(matrix, fun=problem.function, deg=self.steps, orth=0)
        probes = draw_probes(problem, rng, self.probes, self.probe)
        return ValueDraw(problem, partial(_trace, function, probes, self.steps))


def _trace(function: Any, probes: Array, steps: int, problem: Any) -> Estimate:
    problem.charge(probes.shape[1] * steps)
    return mean_of(function.quad(probes))
