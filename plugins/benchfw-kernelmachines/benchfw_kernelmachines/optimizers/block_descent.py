"""What DSG, UDSG and CDSG share: the iteration that moves one block of random features a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple, TypeAlias

from benchfw import Array, Count, Log, NonNegative, Positive, Rng
from benchfw.kernels import namespace
from benchfw_kernelmachines.features import FeatureKind, get_frequencies
from benchfw_kernelmachines.kernels.random_features import feature_gram, feature_products, feature_scores
from benchfw_kernelmachines.oracles import KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor

SMALLEST_SCALE = 2.0**-20  # below it the scale is multiplied into the blocks, so that it never underflows
NOTHING: Mapping[str, float] = MappingProxyType({})


class Choice(NamedTuple):
    """The block that a step moves, how far, and what there is to say about the choices so far."""

    block: int
    step: float
    facts: Mapping[str, float] = NOTHING


Rule: TypeAlias = Callable[[int, int, Array, float], Choice]
"""(t, m, G, γ) -> Choice: the number of the step from 1 on, blocks so far, loss derivatives (B, C), γ_t."""


@dataclass(frozen=True)
class BlockDescent(ABC):
    """f(x) = c Σ_j Φ_j(x) A_j, where each step draws B rows and moves the coefficients A_k of one block."""

    batch: Count = 1024
    """Rows a step, B."""
    block: Count = 128
    """Frequencies of a block, F; regenerated whenever needed."""
    step: Positive = 1.0
    """γ_t = step/(1 + t/delay)^power. Good ones, found by trial: 1.2/μ for squared loss, μ the largest
    eigenvalue of gram/n; 3 for hinge loss, 15 to 20 for softmax; 1 to 4 with a preconditioner."""
    delay: NonNegative = 0.0
    """Steps after which γ_t begins to fall; 0 keeps it constant."""
    power: NonNegative = 1.0
    """How fast γ_t falls."""
    preconditioner: Positive | None = None
    """ε: the move is (Φ_k'Φ_k/(B F) + (λ+ε)I)⁻¹ times the usual one; 1e-5 to 1e-4, for which 2F should be
    well below B."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""

    check_with = ({"batch": 64, "block": 16},)

    solves: ClassVar[type] = KernelRisk
    tuning: ClassVar[dict[str, Log]] = {"step": Log(0.01, 100)}

    @abstractmethod
    def rule(self, problem: KernelRisk, rng: Rng) -> Rule:
        """Return what chooses the block of every step."""

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[FeaturePredictor]:
        """Yield f_0 = 0, f_1, …; they share all coefficients but those that moved between them."""
        outputs, penalty = problem.num_outputs, problem.penalty
        space = problem.covariance, problem.dimension
        frequencies = get_frequencies(self.kind, problem.backend, *space, self.block, rng.seed)
        choose = self.rule(problem, rng)
        scale = 1.0
        coefficients: list[Array] = []
        yield FeaturePredictor(frequencies, (), scale, outputs)
        for t, (rows, targets) in enumerate(problem.batches(rng, self.batch), start=1):
            scores = scale * feature_scores(rows, frequencies.blocks, coefficients, outputs)
            gradients = problem.loss.derivative(scores, targets)
            k, step, facts = choose(t, len(coefficients), gradients, self._step(t))
            direction = self._direction(rows, frequencies.block(k), gradients, penalty)
            scale *= 1 - step * penalty
            if abs(scale) < SMALLEST_SCALE:
                scale, coefficients = 1.0, [scale * each for each in coefficients]
            move = (-step / scale) * direction
            if k == len(coefficients):
                coefficients.append(move)
            else:
                coefficients[k] = coefficients[k] + move  # not in place: answers before hold the old one
            yield FeaturePredictor(frequencies, tuple(coefficients), scale, outputs, facts)

    def _step(self, t: int) -> float:
        """Return γ_t."""
        return self.step / (1 + t / self.delay) ** self.power if self.delay else self.step

    def _direction(self, rows: Array, frequencies: Array, gradients: Array, penalty: float) -> Array:
        """Return Φ'G/(B F), (2, F, C), or its preconditioned self."""
        pairs = rows.shape[0] * self.block
        direction = feature_products(rows, frequencies, gradients) / pairs
        if self.preconditioner is None:
            return direction
        xp = namespace(rows)
        gram = feature_gram(rows, frequencies) / pairs
        ridge = (penalty + self.preconditioner) * xp.eye(gram.shape[0], dtype=gram.dtype)
        flat = direction.reshape(gram.shape[0], -1)
        return xp.linalg.solve(gram + ridge, flat).reshape(direction.shape)
