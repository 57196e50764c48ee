"""Doubly stochastic gradients that check old features before they take a new one."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from benchfw import Array, Positive, Rng
from benchfw_kernelmachines.features import FEATURE_STREAM, get_frequencies
from benchfw_kernelmachines.kernels.block_check import largest_steps
from benchfw_kernelmachines.optimizers.block_descent import BlockDescent, Choice, Rule
from benchfw_kernelmachines.oracles import KernelRisk

NOISE_STREAM = FEATURE_STREAM + 2
ANCHORS, ROWS, FREQUENCIES = 32, 256, 256
NOISE_POWERS = {"per-batch": 1, "literal": 2, "rigorous": 0}


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
    limit: Positive | Literal["auto"] = "auto"
    """The longest step; "auto" is 2/μ for squared loss, μ the largest eigenvalue of gram/n (2 with a
    preconditioner), 4γ for others, none for "literal". With squared loss, blocks of few frequencies or a λ
    near μ need a smaller one."""

    def rule(self, problem: KernelRisk, rng: Rng) -> Rule:
        """Return the check, with the σ² of this problem."""
        variance = feature_variance(problem, rng.at(NOISE_STREAM))
        return Check(problem, variance, NOISE_POWERS[self.noise], *self._limits(problem))

    def _limits(self, problem: KernelRisk) -> tuple[float, float]:
        """Return the longest step, and the longest ratio of a step to γ."""
        if self.limit != "auto":
            return self.limit, math.inf
        if self.noise == "literal":
            return math.inf, math.inf
        if problem.loss.name == "squared":
            return 2 / (1.0 if self.preconditioner else problem.top_eigenvalue()), math.inf
        return math.inf, 4.0


class Check:
    """The rule of CDSG; it remembers β (m, C) and the ratios η/γ of the steps on old blocks, sorted."""

    def __init__(
        self, problem: KernelRisk, variance: float, noise_power: int, longest: float, largest_ratio: float
    ) -> None:
        self.xp = problem.backend.xp
        self.penalty = problem.penalty
        self.variance = variance
        self.noise_power = noise_power
        self.longest = longest
        self.largest_ratio = largest_ratio
        self.beta = self.xp.zeros((0, problem.num_outputs), dtype=self.xp.float32)
        self.ratios: list[float] = []

    def __call__(self, t: int, num_blocks: int, gradients: Array, step: float) -> Choice:
        """Return the old block that is allowed the longest step, or a new one where none beats γ."""
        mean = gradients.mean(axis=0)
        block, length = num_blocks, step
        if num_blocks:
            squares = float((gradients**2).sum(axis=1).mean())
            noise = squares * self.variance / gradients.shape[0] ** self.noise_power
            allowed = largest_steps(self.beta, mean, step, noise)
            best = int(allowed.argmax())
            if float(allowed[best]) > step:
                block = best
                length = min(float(allowed[best]), self.longest, self.largest_ratio * step)
                insort(self.ratios, length / step)
        if block == num_blocks:
            self.beta = self.xp.concatenate([self.beta, self.xp.zeros_like(mean[None])])
        self.beta *= 1 - length * self.penalty
        self.beta[block] -= length * mean
        return Choice(block, length, self.facts(t))

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
