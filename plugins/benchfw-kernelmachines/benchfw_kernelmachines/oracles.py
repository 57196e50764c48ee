"""What methods for kernel machines may ask of a problem, and what they answer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias

from benchfw import Array, Backend, Problem
from benchfw.backends import Rng

Selection: TypeAlias = Array | slice  # of rows
Distance: TypeAlias = Literal["euclidean", "cityblock"]


class Batch(NamedTuple):
    """Rows of data, (B, d) float32, and their targets as the loss encodes them."""

    rows: Array
    targets: Array


class Loss(Protocol):
    """ℓ(f(x), y), convex in the score: a frozen dataclass; scores are (n, C), one column an output.

    A loss of classes alone takes their numbers, (n,), as targets; every other one takes (n, C), and its
    value is the sum over the columns: with C classes it trains one machine a class against the rest.
    """

    @property
    def name(self) -> str:
        """As a suite names it."""
        ...

    @property
    def task(self) -> str:
        """What it is made for: several "classes", two ("signs"), or "numbers"."""
        ...

    @property
    def smoothness(self) -> float | None:
        """The Lipschitz constant of the derivative, None where there is none."""
        ...

    def encode(self, labels: Array, num_classes: int) -> Array:
        """Return the targets of class numbers 0 … num_classes-1, (n,); of real labels for num_classes = 0."""
        ...

    def value(self, scores: Array, targets: Array) -> Array:
        """Return ℓ of each row, (n,)."""
        ...

    def derivative(self, scores: Array, targets: Array) -> Array:
        """Return the derivative of ℓ in the scores, (n, C); a subgradient where there is a kink."""
        ...


class Covariance(Protocol):
    """k(x - y), with the law of its frequencies: k = E cos ω'(x - y), ω ~ P. A frozen dataclass."""

    name: ClassVar[str]
    distance: ClassVar[Distance]  # that its length is measured in

    @property
    def length(self) -> float:
        """Where k has fallen by about half."""
        ...

    def gram(self, left: Array, right: Array) -> Array:
        """Return k(x_i - y_j), (n, m), for rows (n, d) and (m, d)."""
        ...

    def num_normals(self, dimension: int) -> int:
        """Return how many standard normals make one frequency."""
        ...

    def frequencies(self, normals: Array) -> Array:
        """Return frequencies, (d, F), made of standard normals, (num_normals(d), F), by + - * / and sqrt."""
        ...


class Frequencies(Protocol):
    """Blocks of F frequencies that are never stored: block j is made from (seed, stream, j) at need."""

    kind: ClassVar[str]

    @property
    def backend(self) -> Backend:
        """Where blocks are made."""
        ...

    @property
    def covariance(self) -> Covariance:
        """Whose frequencies they are."""
        ...

    @property
    def dimension(self) -> int:
        """D."""
        ...

    @property
    def count(self) -> int:
        """F, of a block."""
        ...

    @property
    def seed(self) -> int:
        """The address of all blocks."""
        ...

    @property
    def stream(self) -> int:
        """Its second half."""
        ...

    def block(self, number: int) -> Array:
        """Return the frequencies of block `number`, (d, F) float32."""
        ...

    def blocks(self, numbers: Sequence[int]) -> Array:
        """Return those of several blocks side by side, (d, F len(numbers))."""
        ...


class Predictor(Protocol):
    """An answer: a function of rows, whatever stands behind it."""

    @property
    def num_features(self) -> int:
        """Random features, support vectors or centres that a prediction goes through."""
        ...

    def predict(self, rows: Array) -> Array:
        """Return f at new rows, (n, d) -> (n, C)."""
        ...

    def squared_norm(self) -> float:
        """Return |f|² in the space of the covariance, or a guess at a bound above it."""
        ...


class KernelRisk(Problem, Protocol):
    """Minimize R(f) = λ/2 |f|² + mean ℓ(f(x), y) over the space of a covariance."""

    cost_unit: str
    num_samples: int
    dimension: int
    num_classes: int  # 0 where targets are numbers
    num_outputs: int
    penalty: float
    loss: Loss
    covariance: Covariance

    def batches(self, rng: Rng, size: int) -> Iterator[Batch]:
        """Yield mini-batches without end: different rows drawn at random, or the next ones of a stream."""
        ...

    def rows(self, numbers: Array) -> Batch:
        """Return the training rows of these numbers; an error where rows are a stream."""
        ...

    def spend(self, *, rows: int = 0, pairs: int = 0, features: int = 0) -> None:
        """Count what a method does without asking for rows.

        These are rows that it looks at again, pairs of a row and a frequency whose features it computes, and
        features that it draws to keep.
        """
        ...

    def sample(self, rng: Rng, count: int) -> Array:
        """Return different training rows drawn at random, at most `count`, (k, d), which are not counted."""
        ...

    def top_eigenvalue(self) -> float:
        """Return the largest eigenvalue of gram / n, from rows that are not counted."""
        ...


class FunctionalRisk(Problem, Protocol):
    """R(f) = λ/2 |f|² + mean ℓ(f(x_i), y_i) at f = Σ_i α_i k(x_i, ·), its gradient seen at some points."""

    num_samples: int
    penalty: float
    covariance: Covariance
    inputs: Array  # x_i, (n, d) float32
    points: Array  # (p, d) float32

    def derivatives(self, params: Array, rows: Selection) -> Array:
        """Return ℓ'(f(x_i), y_i) of these rows, (B, C), for α (n, C); each row is counted."""
        ...

    def at_points(self, weights: Array, rows: Selection = ...) -> Array:
        """Return Σ_i w_i k(x_i, ·) over these rows at the points, (p, C), for weights (B, C)."""
        ...
