"""What a problem, an estimator, an optimizer and a distribution must offer.

These are protocols: a plugin's class need not inherit from them, it only has to have the members.
The shared oracle protocols (`Smooth`, `FiniteSum`, `Composite`, `SpectralSum`) say what a method may
ask of a problem; a family adds protocols of its own in its package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from benchfw.errors import PluginError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchfw.backends import Backend, Rng

Array: TypeAlias = Any
"""An array of the trial's backend: numpy.ndarray or cupy.ndarray."""

Params: TypeAlias = Any
"""Where a problem is evaluated; an array for most problems, anything that adds and scales for others."""

ScalarFunction: TypeAlias = Callable[[Array], Array]


class Problem(Protocol):
    """Data on one backend plus the oracles that methods may call; it counts every call itself.

    Built by `factory(backend, rng, **params)`. A problem may also have `cost_unit: str` (what one unit
    of cost is; "gradients" where it says nothing), `optimum: Params` (where the answer is known) and
    `caveats: Sequence[str]` (what a reader must know to believe the numbers: made-up data, added jitter).
    """

    backend: Backend
    cost: float

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return named measures of an answer, lower is better; off the clock, and not counted."""
        ...


class Smooth(Problem, Protocol):
    """A differentiable function, over a set onto which one can project."""

    def start(self) -> Params:
        """Return where every method begins."""
        ...

    def value(self, params: Params) -> float:
        """Return the function's value; counted in `cost`."""
        ...

    def grad(self, params: Params) -> Params:
        """Return the gradient, shaped like the parameters; counted in `cost`."""
        ...

    def project(self, params: Params) -> Params:
        """Return the nearest point of the feasible set; the parameters themselves where all are feasible."""
        ...


class FiniteSum(Smooth, Protocol):
    """A mean of `num_samples` functions; `grad_batch` is the mean gradient over the samples in `batch`."""

    num_samples: int

    def grad_batch(self, params: Params, batch: Array) -> Params:
        """Return the mean gradient over the samples whose numbers are in `batch`; counted in `cost`."""
        ...


class Composite(Smooth, Protocol):
    """Smooth part f (value, grad) plus a penalty g with a proximal operator."""

    def prox(self, params: Params, step: float) -> Params:
        """Return argmin over z of step g(z) + |z - params|²/2."""
        ...

    def penalty(self, params: Params) -> float:
        """Return g at the parameters."""
        ...


class SpectralSum(Problem, Protocol):
    """tr f(A) for a symmetric A of which only products are to be had; a block of k columns costs k."""

    size: int
    interval: tuple[float, float]
    function: ScalarFunction

    def matmat(self, block: Array) -> Array:
        """Return A times a block: (size, k) -> (size, k), at a cost of k."""
        ...


class Estimator(Protocol):
    """A random function whose mean is a problem's value or gradient: a frozen dataclass.

    It may claim more, for `benchfw check`: `averages: str` (the parameter M in which its variance falls like
    1/M) and `bias_order: (parameter, p)` (its bias falls like the parameter to the power -p).
    """

    @property
    def solves(self) -> type | tuple[type, ...]:
        """The oracle protocol that it needs, or several of which one is enough."""
        ...

    @property
    def estimates(self) -> Literal["value", "grad", "auto"]:
        """What its mean is: the problem's value or gradient; "auto" is the gradient where there is one."""
        ...

    @property
    def unbiased(self) -> bool:
        """Whether it claims so; the report and `benchfw check` test the claim."""
        ...

    def draw(self, problem: Any, rng: Rng) -> Callable[[Params], Array]:
        """Draw the randomness once; the function returned is then deterministic in the parameters."""
        ...


def estimated_quantity(method: Any, problem: Any) -> Literal["value", "grad"]:
    """Return what an estimator estimates on a problem; "auto" is the gradient where there is one."""
    found = method.estimates
    if found == "auto":
        return "grad" if hasattr(problem, "grad") else "value"
    if found not in {"value", "grad"}:
        raise PluginError(
            f'{type(method).__name__}.estimates must be "value", "grad" or "auto", not {found!r}'
        )
    return "value" if found == "value" else "grad"


def drawn_by(method: Any, problem: Any, rng: Rng) -> Callable[[Params], Array]:
    """Return one draw of an estimator, or explain why it is none."""
    draw: Callable[[Params], Array] = method.draw(problem, rng)
    if not callable(draw):
        raise PluginError(
            f"draw() of {type(method).__name__} gave {type(draw).__name__}; "
            "it must return a function of the parameters"
        )
    return draw


def estimate_by(method: Any, problem: Any, value: Any) -> NDArray[Any]:
    """Return what a draw gave as a NumPy array of real numbers, or explain what is wrong with it."""
    import numpy as np

    name = type(method).__name__
    if value is None:
        raise PluginError(
            f"the function that draw() of {name} returned gave None instead of a number or an array"
        )
    estimate = np.asarray(problem.backend.to_numpy(value))
    if estimate.dtype.kind not in "fiub":
        raise PluginError(f"{name} drew {estimate.dtype} values; estimates are real numbers")
    return estimate


@runtime_checkable
class Bounded(Protocol):
    """An optimizer with a theorem: `bound` is its curve for the metric named by `bounds`."""

    @property
    def bounds(self) -> str:
        """The metric that the theorem is about."""
        ...

    def bound(self, problem: Any, iterations: Array) -> Array | None:
        """Return the theorem's values at these iteration numbers, or None where it says nothing."""
        ...


@runtime_checkable
class Informative(Protocol):
    """A method with something to say about a trial when it is over; a method may have either of the two.

    An optimizer's answer may have them too, without arguments: the last one measured is asked.
    """

    def facts(self, problem: Any) -> Mapping[str, float]:
        """Return named numbers that explain what was measured: shown in the report, never ranked."""
        ...

    def caveats(self, problem: Any) -> Sequence[str]:
        """Return sentences that a reader must know to believe the numbers."""
        ...


class Optimizer(Protocol):
    """An algorithm that yields better and better answers, the start first: a frozen dataclass."""

    @property
    def solves(self) -> type:
        """The oracle protocol that it needs of a problem."""
        ...

    def run(self, problem: Any, rng: Rng) -> Iterator[Any]:
        """Yield answers for ever; the clock runs inside `next` alone, and the harness says when to stop."""
        ...


NO_ANSWER = "the method yielded no answer; run() must yield the start first"


def answers_by(method: Any, problem: Any, rng: Rng) -> Iterator[Any]:
    """Return an optimizer's answers in turn, or explain why there are none."""
    answers: Iterator[Any] = method.run(problem, rng)
    if not hasattr(answers, "__next__"):
        raise PluginError(
            f"run() of {type(method).__name__} gave {type(answers).__name__}, no answers in turn; "
            "write it as a generator, with yield"
        )
    return answers


class Distribution(Protocol):
    """A law over 0, 1, 2, … at which an infinite series is cut: a frozen dataclass."""

    def survival(self, degree: Array, decay: float) -> Array:
        """Return P(n >= degree) where the series falls like decay ** -degree."""
        ...

    def sample(self, rng: Rng, decay: float, size: int | None = None) -> Array:
        """Return `size` degrees drawn from the law, or one."""
        ...
