"""Step sizes: the automatic one, the schedules a_0, a_1, … of stochastic methods; and the proximal step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Annotated, Any, Literal, TypeAlias

from benchfw import Array, BenchfwError, Range, constants_of

Step: TypeAlias = float | Literal["auto"]
Decay: TypeAlias = Annotated[float, Range(least=0, below=1)]
Schedule: TypeAlias = Literal["constant", "inverse", "inverse-sqrt", "power"]


def known_smoothness(problem: Any, *, of_samples: bool = False) -> float:
    """Return a Lipschitz constant that the problem knows: L, or the largest of its samples' L_i."""
    known = constants_of(problem)
    found = known.sample_smoothness if of_samples else known.smoothness
    if found is None:
        raise BenchfwError(
            f'step = "auto" needs the {"sample " * of_samples}smoothness of the problem, which '
            "is not known: give the step as a number"
        )
    return float(found)


def resolve_step(step: Step, problem: Any) -> float:
    """Return the step as a number: "auto" is 1/L, L the Lipschitz constant of the problem's gradient."""
    return 1 / known_smoothness(problem) if step == "auto" else step


def resolve_stochastic_step(step: Step, problem: Any, estimator: Any, safety: float) -> float:
    """Return the step as a number: "auto" is 1 / (safety x the smoothness of a draw of the estimator).

    A draw may be far less smooth than its mean: with single samples 1/L diverges. Gower et al. 2019.
    """
    if step != "auto":
        return step
    smoothness = getattr(estimator, "smoothness", None)
    if smoothness is None:
        raise BenchfwError(
            f'step = "auto" needs to know how smooth a draw is, and {type(estimator).__name__} does not say: '
            "give the step as a number"
        )
    return 1 / (safety * float(smoothness(problem)))


def step_sizes(step: float, schedule: Schedule, decay: float, power: float) -> Iterator[float]:
    """Yield a_0, a_1, …: a, a/(1 + k decay), a/√(k+1), or a (k+1)^-power."""
    for k in count():
        match schedule:
            case "constant":
                yield step
            case "inverse":
                yield step / (1 + k * decay)
            case "inverse-sqrt":
                yield step / (k + 1) ** 0.5
            case "power":
                yield step * (k + 1) ** -power


def fade_out(steps: Iterable[float], horizon: int | None) -> Iterator[float]:
    """Yield a_k (1 - k/horizon), and 0 from the horizon on; a_k themselves without one."""
    for k, step in enumerate(steps):
        yield step if horizon is None else step * max(0.0, 1 - k / horizon)


def backward_step(problem: Any) -> Callable[[Array, float], Array]:
    """Return (x, a) ↦ prox_{a g}(x) where the problem has a penalty g, else the projection of x."""
    prox: Callable[[Array, float], Array] | None = getattr(problem, "prox", None)
    return prox or (lambda params, _: problem.project(params))
