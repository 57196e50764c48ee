"""Step sizes: the automatic one, and the schedules a_0, a_1, … of the stochastic methods."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Literal, TypeAlias

from benchfw import BenchfwError, constants_of

Step: TypeAlias = float | Literal["auto"]
Schedule: TypeAlias = Literal["constant", "inverse", "inverse-sqrt", "power"]


def known_smoothness(problem: Any, *, of_samples: bool = False) -> float:
    """Return a Lipschitz constant that the problem knows: L, or the largest of its samples' L_i."""
    known = constants_of(problem)
    found = known.sample_smoothness if of_samples else known.smoothness
    if found is None:
        raise BenchfwError(
            f'step = "auto" needs the {"sample " * of_samples}smoothness of the problem, which '
            f"{type(problem).__name__} does not know: give the step as a number"
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


def check_step(step: Step) -> None:
    """Raise ValueError unless the step is "auto" or positive."""
    if step != "auto" and not (isinstance(step, int | float) and step > 0):
        raise ValueError(f'step must be positive or "auto", got {step!r}')


def check_schedule(schedule: str, decay: float, power: float) -> None:
    """Raise ValueError for a schedule that does not exist or a rate that lets steps grow."""
    legal = ("constant", "inverse", "inverse-sqrt", "power")
    if schedule not in legal:
        raise ValueError(f"schedule must be one of {', '.join(legal)}, got {schedule!r}")
    if decay < 0 or power < 0:
        raise ValueError(f"decay and power must not be negative, got {decay} and {power}")


def check_fraction(name: str, value: float) -> None:
    """Raise ValueError unless 0 <= value < 1."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value}")


def check_positive(name: str, value: float) -> None:
    """Raise ValueError unless the value is positive."""
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")
