"""What DSG, UDSG and CDSG share: the iteration that moves one block of random features a step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from benchfw import Array, BenchfwError, Count, Log, NonNegative, Positive, Rng
from benchfw.kernels import namespace
from benchfw_kernelmachines.features import FeatureKind, get_frequencies
from benchfw_kernelmachines.kernels.random_features import feature_gram, feature_products, feature_scores
from benchfw_kernelmachines.oracles import Frequencies, KernelRisk
from benchfw_kernelmachines.predictor import FeaturePredictor

SMALLEST_SCALE = 2.0**-20  # below it the scale is multiplied into the blocks, so that it never underflows
NOTHING: Mapping[str, float] = MappingProxyType({})


class Choice(NamedTuple):
    """The block that a step moves, how far, and what there is to say about the choices so far."""

    block: int
    step: float | None
    facts: Mapping[str, float] = NOTHING


class Moves:
    """The moves of all blocks that one batch asks for, each computed when it is first wanted.

    The move of block k is D = Φ_k'G/(B F), (2, F, C), for loss derivatives G (B, C); with ε > 0 times
    (Φ_k'Φ_k/(B F) + (λ+ε)I)⁻¹.
    """

    def __init__(
        self,
        problem: KernelRisk,
        frequencies: Frequencies,
        rows: Array,
        gradients: Array,
        preconditioner: float | None = None,
        tensor_cores: bool = True,
    ) -> None:
        self.gradients = gradients
        self._problem, self._frequencies, self._rows = problem, frequencies, rows
        self._preconditioner, self._tensor_cores = preconditioner, tensor_cores
        self._found: dict[int, Array] = {}

    def direction(self, block: int) -> Array:
        """Return D, (2, F, C)."""
        if block not in self._found:
            self._found[block] = self._direction(self._frequencies.block(block))
        return self._found[block]

    def _direction(self, frequencies: Array) -> Array:
        pairs = self._count_pairs()
        direction = feature_products(self._rows, frequencies, self.gradients, self._tensor_cores) / pairs
        if self._preconditioner is None:
            return direction
        xp = namespace(self._rows)
        gram = feature_gram(self._rows, frequencies, self._tensor_cores) / self._count_pairs()
        ridge = (self._problem.penalty + self._preconditioner) * xp.eye(gram.shape[0], dtype=gram.dtype)
        flat = direction.reshape(gram.shape[0], -1)
        return xp.linalg.solve(gram + ridge, flat).reshape(direction.shape)

    def line_search(self, block: int) -> float:
        """Return s* = <G, Q>/(L|Q|²), Q = Φ_k D, (B, C), L the smoothness of the loss.

        With squared loss s* minimizes the mean loss of the batch along the move; with another one the
        quadratic bound above it, so that a step up to 2s* never raises the loss of the batch.
        """
        bend = line_search_smoothness(self._problem)
        self._count_pairs()
        scores = feature_scores(
            self._rows,
            lambda numbers: self._frequencies.blocks([block for _ in numbers]),
            [self.direction(block)],
            self.gradients.shape[1],
            self._tensor_cores,
        )
        sums = namespace(scores).stack([(self.gradients * scores).sum(), (scores * scores).sum()])
        along, squares = map(float, self._problem.backend.to_numpy(sums))
        return along / (bend * squares) if squares else 0.0

    def _count_pairs(self) -> int:
        """Return B F, the pairs of all rows and the frequencies of a block, once they are counted."""
        pairs = int(self._rows.shape[0]) * self._frequencies.count
        self._problem.spend(pairs=pairs)
        return pairs


def line_search_smoothness(problem: KernelRisk) -> float:
    """Return the smoothness of the loss; BenchfwError where it has none."""
    loss = problem.loss
    if loss.smoothness is None:
        raise BenchfwError(f"a line search needs a smooth loss, and '{loss.name}' has a kink; give a number")
    return loss.smoothness


Rule: TypeAlias = Callable[[int, int, Moves, float | None], Choice]
"""(t, m, moves, γ) -> Choice: the number of the step from 1 on, blocks so far, what the batch asks for, γ_t.

γ_t is None where it is found by a line search once the block is known.
"""


@dataclass(frozen=True)
class BlockDescent(ABC):
    """f(x) = c Σ_j Φ_j(x) A_j, where each step draws B rows and moves the coefficients A_k of one block."""

    batch: Count = 1024
    """Rows a step, B."""
    block: Count = 128
    """Frequencies of a block, F; regenerated whenever needed."""
    step: Positive | Literal["line-search"] = 1.0
    """γ_t = step/(1 + t/delay)^power. Good ones, found by trial: 1.2/μ for squared loss, μ the largest
    eigenvalue of gram/n; 3 for hinge loss, 15 to 20 for softmax; 1 to 4 with a preconditioner. "line-search"
    takes the step that is best for the batch (squared loss) or for a quadratic bound above its loss."""
    delay: NonNegative = 0.0
    """Steps after which γ_t begins to fall; 0 keeps it constant."""
    power: NonNegative = 1.0
    """How fast γ_t falls."""
    preconditioner: Positive | None = None
    """ε: the move is (Φ_k'Φ_k/(B F) + (λ+ε)I)⁻¹ times the usual one; 1e-5 to 1e-4, for which 2F should be
    well below B."""
    kind: FeatureKind = "independent"
    """How frequencies are drawn."""
    tensor_cores: bool = True
    """Whether a GPU multiplies float32 in halves on its tensor cores; else plainly, which takes longer. The
    accuracy of both is in docs/performance.md; on the host it makes no difference."""

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
        if self.step == "line-search":
            line_search_smoothness(problem)
        choose = self.rule(problem, rng)
        scale = 1.0
        coefficients: list[Array] = []
        yield FeaturePredictor(frequencies, (), scale, outputs, tensor_cores=self.tensor_cores)
        for t, (rows, targets) in enumerate(problem.batches(rng, self.batch), start=1):
            problem.spend(pairs=self.batch * self.block * len(coefficients))
            sums = feature_scores(rows, frequencies.blocks, coefficients, outputs, self.tensor_cores)
            gradients = problem.loss.derivative(scale * sums, targets)
            moves = Moves(problem, frequencies, rows, gradients, self.preconditioner, self.tensor_cores)
            k, given, facts = choose(t, len(coefficients), moves, self._step(t))
            step = self._fall(t) * moves.line_search(k) if given is None else given
            direction = moves.direction(k)
            scale *= 1 - step * penalty
            if abs(scale) < SMALLEST_SCALE:
                scale, coefficients = 1.0, [scale * each for each in coefficients]
            move = (-step / scale) * direction
            if k == len(coefficients):
                problem.spend(features=self.block)
                coefficients.append(move)
            else:
                coefficients[k] = coefficients[k] + move  # not in place: answers before hold the old one
            found = frequencies, tuple(coefficients), scale, outputs
            yield FeaturePredictor(*found, facts, self.tensor_cores)

    def _step(self, t: int) -> float | None:
        """Return γ_t, None for a line search."""
        return None if self.step == "line-search" else self.step * self._fall(t)

    def _fall(self, t: int) -> float:
        return (1 + t / self.delay) ** -self.power if self.delay else 1.0
