"""What a problem, an estimator, an optimizer and a distribution must offer.

These are protocols: a plugin's class need not inherit from them, it only has to have the members.
The shared oracle protocols (`Smooth`, `FiniteSum`, `Composite`, `SpectralSum`) say what a method may
ask of a problem; a family adds protocols of its own in its package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from benchfw.errors import PluginError

if TYPE_CHECKING:
    from pathlib import Path

    from benchfw.backends import Backend, Rng

Array: TypeAlias = Any
"""An array of the trial's backend: numpy.ndarray or cupy.ndarray."""

Params: TypeAlias = Any
"""Where a problem is evaluated; an array for most problems, anything that adds and scales for others."""

GAP_ROUNDING = 1e-9  # relative to the size of the function

ScalarFunction: TypeAlias = Callable[[Array], Array]


@dataclass(frozen=True)
class Constants:
    """What a problem knows about its function, for steps and theorems; None where it does not know."""

    smoothness: float | None = None
    """Lipschitz constant of the gradient, L."""
    sample_smoothness: float | None = None
    """The largest Lipschitz constant of one sample's gradient, max L_i."""
    strong_convexity: float | None = None
    """The modulus of strong convexity, μ; 0 for a function that is convex only."""
    distance: float | None = None
    """Distance from the start to the optimum."""
    gradient_bound: float | None = None
    """Bounds the root mean square of a stochastic gradient on the feasible set."""


@dataclass(frozen=True)
class Claims:
    """What an estimator claims about itself; the report and `benchfw check` test it."""

    unbiased: bool
    """Whether its mean is exactly what it estimates."""
    averages: str = ""
    """The parameter M in which its variance falls like 1/M."""
    bias_order: tuple[str, float] | None = None
    """(parameter, p): its bias falls like the parameter to the power -p."""


class Problem(Protocol):
    """Data on one backend plus the oracles that methods may call; it counts every call itself.

    Built by `factory(backend, rng, **params)`. A class derived from `CountedProblem` has `cost` and `charge`.
    `OptionalOfProblem` lists what else it may have.
    """

    backend: Backend
    """The arrays and generators that it works with."""

    @property
    def cost(self) -> float:
        """What its oracles have cost so far; read-only."""
        ...

    def charge(self, amount: float) -> None:
        """Add the cost of work that no oracle sees, such as another library's: shown as declared."""
        ...

    def metrics(self, answer: Any) -> Mapping[str, float]:
        """Return named measures of an answer; off the clock, and not counted.

        Lower is better, except in those that `higher_is_better` names.
        """
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
    """How many functions the mean is over."""

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
    """tr f(A) for a symmetric A that is known by its products alone; a block of k columns costs k."""

    size: int
    """The number of rows of A."""
    interval: tuple[float, float]
    """Holds every eigenvalue of A."""
    function: ScalarFunction
    """f."""

    def matmat(self, block: Array) -> Array:
        """Return A times a block: (size, k) -> (size, k), at a cost of k."""
        ...


class Estimator(Protocol):
    """A random function whose mean is a problem's value or gradient: a frozen dataclass."""

    @property
    def solves(self) -> type | tuple[type, ...]:
        """The oracle protocol that it needs, or several of which one is enough."""
        ...

    @property
    def estimates(self) -> Literal["value", "grad", "auto"]:
        """What its mean is: the problem's value or gradient; "auto" is the gradient where there is one."""
        ...

    @property
    def claims(self) -> Claims:
        """What it claims about its bias and variance."""
        ...

    def draw(self, problem: Any, rng: Rng) -> Callable[[Params], Array]:
        """Draw the randomness once; the function returned is then deterministic in the parameters."""
        ...


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


class Optimizer(Protocol):
    """An algorithm that yields better and better answers, the start first: a frozen dataclass.

    One that cannot yield has `solve` in the place of `run`: see `Solver`; one that calls back is made by
    `from_callback`.
    """

    @property
    def solves(self) -> type:
        """The oracle protocol that it needs of a problem."""
        ...

    def run(self, problem: Any, rng: Rng) -> Iterator[Any]:
        """Yield answers without end; the clock runs only inside `next`; the harness decides when to stop."""
        ...


class Solver(Protocol):
    """An optimizer that cannot yield: it is called again and again, with growing effort.

    Each call is timed alone, and its seconds and cost are one point of the curve. It ends when a call meets
    the target or uses up the budget.
    """

    @property
    def solves(self) -> type:
        """The oracle protocol that it needs of a problem."""
        ...

    def solve(self, problem: Any, rng: Rng, effort: int) -> Any:
        """Return the answer of one call from scratch: of `effort` iterations, or epochs, or digits.

        More effort takes no less work. The generator gives the same numbers in every call.
        """
        ...


class Distribution(Protocol):
    """A law over 0, 1, 2, … at which an infinite series is cut: a frozen dataclass."""

    def survival(self, degree: Array, decay: float) -> Array:
        """Return P(n >= degree) where the series falls like decay ** -degree."""
        ...

    def sample(self, rng: Rng, decay: float, size: int | None = None) -> Array:
        """Return `size` degrees drawn from the law, or one."""
        ...


class OptionalOfProblem(Protocol):
    """The optional members of a problem, besides its oracles; methods check for them before use."""

    cost_unit: str
    """What one unit of cost is. Default: "gradients"."""
    higher_is_better: Collection[str]
    """The metrics of which more is better, such as ("accuracy",); of all others less is."""
    limits: Mapping[str, float]
    """The best value that metrics can have, by definition; a trial that goes beyond it fails. `gap` has 0."""
    optimum: Params
    """The answer, where it is known."""
    unique: bool
    """Whether that optimum is the only one."""
    constants: Constants
    """What it knows about its function; read it with `constants_of`."""
    caveats: Sequence[str]
    """What a reader must know to believe the numbers: made-up data, added jitter."""
    pass_cost: float
    """What a pass over its data costs. After the first one answers are measured at the ends of passes, where
    methods that sample without replacement are at their best."""
    quadratic: bool
    """Whether its function is a quadratic over all of space: some theorems say more there."""
    penalized: bool
    """Whether its objective has a part that neither `grad` nor `project` sees; True where it has a `prox`."""
    box: tuple[float | Array, float | Array]
    """The lower and the upper bounds, where the feasible set is a box: of every coordinate, or of each."""

    def value_and_grad(self, params: Params) -> tuple[float, Params]:
        """Return both for the cost of a gradient."""
        ...

    def hessp(self, params: Params, direction: Params) -> Params:
        """Return the Hessian times a direction, shaped like the parameters; counted in `cost`."""
        ...

    def grad_samples(self, params: Params, batch: Array) -> Array:
        """Return the gradient of each sample in `batch`, stacked."""
        ...


class OptionalOfMethod(Protocol):
    """Every member that an optimizer, an estimator or a distribution may have besides its protocol's.

    An optimizer's answer may have `facts` and `caveats` too, without arguments; the last one is asked.
    """

    bounds: str
    """The metric that its theorem is about, with `bound`: see `Bounded`."""
    efforts: Sequence[int]
    """For a `Solver`: the efforts of its calls, growing. Default: 1, 2, 3, 4, 6, 9, … as long as it takes."""
    first: int
    """For one that calls back or has `solve`: the number of its first answer. 0 if that is its start, which
    is then not asked of the problem. Default: 1."""
    knows_cost: bool
    """False for a method that works through another library and cannot say what that computes: its cost is
    left open, without a caveat. Default: True."""
    projects: bool
    """False for an optimizer that leaves out `problem.project`: it is for unconstrained problems."""
    unbiased: bool
    """For a distribution: False if it truncates the series for good. Default: True."""

    def prepare(self, problem: Any) -> Any:
        """Return the method that is run in place of this one, set up for the problem, once and off the clock.

        What may not count belongs here: compilation, a factorization. Its seconds and cost are measured and
        shown beside those of the run. It draws nothing and solves nothing.
        """
        ...

    def prepare_call(self, problem: Any, effort: int) -> None:
        """For a `Solver`: set up the call of this effort that follows, off the clock."""
        ...

    def facts(self, problem: Any) -> Mapping[str, float]:
        """Return named numbers that explain what was measured: shown in the report, never ranked.

        An estimator that knows its variance to be infinite says `infinite_variance`, 1: the report then gives
        no upper end of its variance.
        """
        ...

    def caveats(self, problem: Any) -> Sequence[str]:
        """Return sentences that a reader must know to believe the numbers."""
        ...

    def draws(self, problem: Any, rng: Rng) -> Iterator[Callable[[Params], Array]]:
        """For an estimator: yield the draws of an optimizer's steps, where they depend on one another.

        So do the batches of a pass without replacement. By default they are independent, by `draw`.
        """
        ...

    def smoothness(self, problem: Any) -> float:
        """Return how smooth a draw of this estimator is in expectation: optimizers choose a step by it."""
        ...

    def noise_smoothness(self, problem: Any) -> float | None:
        """Return ℓ if it is known: one draw at x and y differs by the means' difference + noise, ℓ|x - y|."""
        ...


class OptionalOfPlugin(Protocol):
    """What a factory, or a plugin's module, may say about itself."""

    check_with: Sequence[Mapping[str, Any]]
    """For a factory: the small parameters that `benchfw check` builds it with."""
    expected_failures: Mapping[str, str]
    """For a factory: the checks that it fails on purpose, each with the reason."""
    benchfw_api: int
    """For a module: the `benchfw.API_VERSION` that it was written for."""

    def source_files(self, **params: Any) -> Iterable[Path]:
        """For a factory: the files that decide what it makes of these parameters, beside its own modules.

        They and what they import are in the key of its trials. Called before anything runs: a BenchfwError
        ends the run.
        """
        ...


def constants_of(problem: Any) -> Constants:
    """Return what a problem knows about its function."""
    return _read_member(problem, "constants", Constants())


def claims_of(estimator: Any) -> Claims:
    """Return what an estimator claims; without a claim it may be biased."""
    return _read_member(estimator, "claims", Claims(unbiased=False))


def draws_of(estimator: Any, problem: Any, rng: Rng) -> Iterator[Callable[[Params], Array]]:
    """Yield a draw for each step of an optimizer: the estimator's own `draws`, else independent ones."""
    draws: Callable[..., Iterator[Callable[[Params], Array]]] | None = getattr(estimator, "draws", None)
    if draws is not None:
        yield from draws(problem, rng)
    while True:
        yield estimator.draw(problem, rng)


def cost_unit_of(problem: Any) -> str:
    """Return what one unit of a problem's cost is."""
    found = getattr(problem, "cost_unit", "gradients")
    return found if isinstance(found, str) else _read_member(problem, "cost_unit", "gradients")


def pass_cost_of(problem: Any) -> float | None:
    """Return what a pass over a problem's data costs, where it says so."""
    found: float | None = getattr(problem, "pass_cost", None)
    if found is not None and not found > 0:
        raise PluginError(f"pass_cost of {type(problem).__name__} must be above 0, got {found!r}")
    return found


def gains_of(problem: Any) -> frozenset[str]:
    """Return the metrics of a problem of which higher is better."""
    names = getattr(problem, "higher_is_better", ())
    kind = type(problem).__name__
    if isinstance(names, str) or not isinstance(names, Collection):
        raise PluginError(
            f'higher_is_better of {kind} must be names of metrics, as in ("accuracy",), got {names!r}'
        )
    if "gap" in names:
        raise PluginError(f"higher_is_better of {kind} names the gap, a distance: lower is better")
    return frozenset(names)


def clip_gap(gap: float, size: float) -> float:
    """Return F(x) - F*, or 0 where it is negative by rounding alone; `size` is the size of F.

    A gap further below 0 stays, and so does NaN: the trial then fails or diverges, and is not called solved.
    """
    return 0.0 if -GAP_ROUNDING * (1 + abs(size)) <= gap < 0 else gap


T = TypeVar("T")


def _read_member(owner: Any, member: str, default: T) -> T:
    found = getattr(owner, member, default)
    if not isinstance(found, type(default)):
        name, kind = type(owner).__name__, type(default).__name__
        raise PluginError(f"{member} of {name} must be {kind}, got {found!r}")
    return found
