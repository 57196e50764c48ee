"""The gradient of a smoothed nuclear norm from the largest singular values alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

from benchfw import Array, Claims, Count, Rng
from benchfw_spectral.oracles import Draw, FactoredObjective


@dataclass(frozen=True)
class LowRank:
    """The gradient from the largest singular values, by subspace iteration that goes on from draw to draw.

    G = θ/√ε + Σ_{i<=k} (h'(σ_i) - σ_i/√ε) u_i v_i', h = √(σ² + ε): the others are taken as small, where
    h'(σ) = σ/√ε. The first basis is random; each draw begins with the one that the draw before it has found,
    so that one sweep is enough where θ moves slowly. Biased. A sweep costs 1.5 products a singular value.
    """

    rank: Count = 50
    """Singular values that are computed, k."""
    sweeps: Count = 1
    """Sweeps of subspace iteration a draw."""

    solves: ClassVar[type] = FactoredObjective
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: FactoredObjective, rng: Rng) -> Draw:
        """Return the gradient by sweeps from the last basis, or from a random one at the first draw."""
        known = _bases.setdefault(problem, {})
        if self not in known:
            columns = problem.shape[1]
            known[self] = rng.standard_normal((columns, min(self.rank, *problem.shape)), dtype=problem.dtype)
        first = known[self]

        def gradient(params: Array) -> Array:
            basis = first
            for _ in range(self.sweeps):
                found, basis = problem.truncated_grad(params, basis)
            known[self] = basis
            return found

        return gradient


_bases: WeakKeyDictionary[Any, dict[LowRank, Array]] = WeakKeyDictionary()
