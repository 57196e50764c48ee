"""Doubly stochastic gradients that check old features before they take a new one."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from benchfw import Array, Positive, Rng
from benchfw_kernelmachines.features import FEATURE_STREAM, get_frequencies
from benchfw_kernelmachines.kernels.block_check import largest_steps
from benchfw_kernelmachines.optimizers.block_descent import (
    BlockDescent,
    Choice,
    Moves,
    Rule,
    line_search_smoothness,
)
from benchfw_kernelmachines.oracles import KernelRisk

NOISE_STREAM = FEATURE_STREAM + 2
ANCHORS, ROWS, FREQUENCIES = 32, 256, 256
NOISE_POWERS = {"per-batch": 1, "literal": 2, "rigorous": 0}
LARGEST_RATIO = 4.0  # of a step to γ, with a loss that is not squared

Limit: TypeAlias = Callable[[Moves, int, float], float]
"""(moves, block, γ) -> the longest step on that block."""


@dataclass(frozen=True)
class CDSG(BlockDescent):
    """CDSG (Li & Póczos 2016, algorithm 4): moves the old block that allows the longest step, if it beats γ.

    Block j, whose moves so far add up to β_j, allows the largest s with
    2|β_j - s ḡ|² + 2s²v <= |β_j|² + γ²|ḡ|² (eq. 9), ḡ the mean derivative of the batch; none beats γ where
    v >= 1.5|ḡ|². M² is the mean of |ℓ'|² over the batch; σ² is estimated once, from 288 rows.
    """

    noise: Literal["per-batch", "literal", "rigorous"] = "per-batch"
    """What v is: "per-batch" M²σ²/B, the variance of a batch; "literal" M²σ²/B² as printed, which diverges
    with squared loss; "rigorous" M²σ², with which it is DSG while ḡ is small, as with balanced classes, the
    median length and batches of about 100 and more."""
    limit: Positive | Literal["auto", "line-search"] = "auto"
    """The longest step on an old block; "line-search" is the best one for the batch, <G, Q>/(L|Q|²) with Q
    the change of its scores by a step of 1 and L the smoothness of the loss; "auto" is that for squared loss,
    4γ for others, none for "literal"."""
    step: Positive = 1.0
    """γ_t = step/(1 + t/delay)^power, which also enters the check."""

    def rule(self, problem: KernelRisk, rng: Rng) -> Rule:
        """Return the check, with the σ² of this problem."""
        variance = feature_variance(problem, rng.at(NOISE_STREAM))
        return Check(problem, variance, NOISE_POWERS[self.noise], self._limit(problem))

    def _limit(self, problem: KernelRisk) -> Limit:
        """Return what bounds a step on an old block."""
        if self.limit == "auto" and self.noise == "literal":
            return lambda _moves, _block, _step: math.inf
        if self.limit == "line-search" or (self.limit == "auto" and problem.loss.name == "squared"):
            line_search_smoothness(problem)
            return lambda moves, block, _step: moves.line_search(block)
        if self.limit == "auto":
            return lambda _moves, _block, step: LARGEST_RATIO * step
        longest = self.limit
        return lambda _moves, _block, _step: longest


class Check:
    """The rule of CDSG; it remembers β (m, C) and the ratios η/γ of the steps on old blocks, sorted.

    β is small and on the host: a device is waited for when the derivatives are known, and by a line search.
    """

    def __init__(self, problem: KernelRisk, variance: float, noise_power: int, limit: Limit) -> None:
        self.backend = problem.backend
        self.penalty = problem.penalty
        self.variance = variance
        self.noise_power = noise_power
        self.limit = limit
        self.beta = np.zeros((0, problem.num_outputs), dtype=np.float32)
        self.ratios: list[float] = []

    def __call__(self, t: int, num_blocks: int, moves: Moves, step: float | None) -> Choice:
        """Return the old block that is allowed the longest step, or a new one where none beats γ."""
        if step is None:
            raise TypeError("the check compares steps with γ, which must be a number")
        mean, square = self._mean_and_square(moves.gradients)
        block, length = num_blocks, step
        if num_blocks:
            noise = square * self.variance / moves.gradients.shape[0] ** self.noise_power
            allowed = largest_steps(self.beta, mean, step, noise)
            best = int(allowed.argmax())
            if float(allowed[best]) > step:
                block = best
                length = min(float(allowed[best]), self.limit(moves, best, step))
                insort(self.ratios, length / step)
        if block == num_blocks:
            self.beta = np.concatenate([self.beta, np.zeros_like(mean[None])])
        self.beta *= 1 - length * self.penalty
        self.beta[block] -= length * mean
        return Choice(block, length, self.facts(t))

    def _mean_and_square(self, gradients: Array) -> tuple[np.ndarray, float]:
        """Return ḡ, (C,), and M²: the means of ℓ' and |ℓ'|² over the batch."""
        mean, square = gradients.mean(axis=0), (gradients**2).sum(axis=1).mean()
        found = self.backend.to_numpy(self.backend.xp.concatenate([mean, square[None]]))
        return found[:-1], float(found[-1])

    def facts(self, t: int) -> Mapping[str, float]:
        """Return the share of steps on old blocks, quantiles of their η/γ, and σ²."""
        found = {"accepted_share": len(self.ratios) / t, "sigma_squared": self.variance}
        if self.ratios:
            for name, level in (("q10", 0.1), ("median", 0.5), ("q90", 0.9)):
                found[f"step_ratio_{name}"] = self.ratios[round(level * (len(self.ratios) - 1))]
        return found


def feature_variance(problem: KernelRisk, rng: Rng) -> float:
    """Return σ² = 2 E_ω,x Var_y[cos ω'(x-y) - k(x, y)]/4 from a few rows x, y and frequencies ω."""
    backend, covariance = problem.backend, problem.covariance
    sample = problem.sample(rng, ANCHORS + ROWS)
    anchors, rows = sample[:ANCHORS], sample[-ROWS:]  # they overlap only where there are no more rows
    place = FREQUENCIES, rng.seed, rng.stream
    independent = get_frequencies("independent", backend, covariance, problem.dimension, *place)
    frequencies = independent.block(rng.block)  # the first that no row was drawn with
    phases, gram = rows @ frequencies, covariance.gram(anchors, rows)
    xp = backend.xp
    variances = [
        xp.var(xp.cos(phase - phases) - exact[:, None], axis=0).mean()
        for phase, exact in zip(anchors @ frequencies, gram, strict=True)
    ]
    return float(sum(variances) / len(variances)) / 2
