"""Doubly stochastic gradients."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Rng
from benchfw_kernelmachines.optimizers.block_descent import BlockDescent, Choice, Rule
from benchfw_kernelmachines.oracles import KernelRisk


@dataclass(frozen=True)
class DSG(BlockDescent):
    """Doubly stochastic gradients (Dai et al. 2014): every step adds a new block of random features.

    f ← (1 - γλ) f - γ Φ_m Φ_m'G/(B F). For steps θ/t with θλ in (1, 2) or a whole number E|f - f*|² falls as
    1/t at every point (theorem 3).
    """

    def rule(self, problem: KernelRisk, rng: Rng) -> Rule:
        """Return the rule that takes a new block each time."""
        return lambda _t, num_blocks, _moves, step: Choice(num_blocks, step)
