"""Doubly stochastic gradients with uniform sampling of old features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from benchfw import Count, Range, Rng
from benchfw_kernelmachines.features import FEATURE_STREAM
from benchfw_kernelmachines.optimizers.block_descent import BlockDescent, Choice, Moves, Rule
from benchfw_kernelmachines.oracles import KernelRisk

BLOCK_STREAM = FEATURE_STREAM + 1  # of its own, so that the batches stay those of DSG


@dataclass(frozen=True)
class UDSG(BlockDescent):
    """UDSG (Li & Póczos 2016, algorithm 3): some new blocks, then some steps on old ones at random.

    With t steps it has t fresh/(fresh + reuse) blocks where DSG has t, so that later steps are cheaper.
    """

    fresh: Count = 1
    """New blocks of a round."""
    reuse: Annotated[int, Range(least=0)] = 1
    """Steps of a round on old blocks, at random."""

    def rule(self, problem: KernelRisk, rng: Rng) -> Rule:
        """Return the rule that goes through the period of fresh + reuse steps."""
        draws = rng.at(BLOCK_STREAM)

        def choose(t: int, num_blocks: int, _moves: Moves, step: float | None) -> Choice:
            is_new = (t - 1) % (self.fresh + self.reuse) < self.fresh
            return Choice(num_blocks if is_new else draws.integers(num_blocks), step)

        return choose
