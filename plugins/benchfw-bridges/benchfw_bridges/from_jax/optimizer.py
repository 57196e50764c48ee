"""Gradient transformations of Optax as optimizers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from benchfw import Array, Estimator, Log, Rng, Smooth
from benchfw_bridges.from_jax.batches import draws_batches
from benchfw_bridges.from_jax.stepping import JointSteps, SeparateSteps
from benchfw_bridges.from_jax.transformations import build_transformation, read_chain


@dataclass(frozen=True)
class Optax:
    """A chain of gradient transformations; `optax_optimizer` makes one."""

    tables: tuple[Mapping[str, Any], ...]
    """The transformations, each with its `name` and its options."""
    estimator: Estimator | None = None
    """What draws the gradients."""
    steps: SeparateSteps | JointSteps | None = field(default=None, repr=False, compare=False)
    """The compiled steps for a problem."""

    solves: ClassVar[type] = Smooth

    def prepare(self, problem: Any) -> Optax:
        """Compile the step: together with the gradient where the problem is written in JAX."""
        return replace(self, steps=self._compile(problem))

    def run(self, problem: Any, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        return (self.steps or self._compile(problem)).run(rng)

    def _compile(self, problem: Any) -> SeparateSteps | JointSteps:
        together = hasattr(problem, "compile") and draws_batches(self.estimator, problem)
        kind = JointSteps if together else SeparateSteps
        keys: list[int] = []

        def note_key() -> int:
            keys.append(0)
            return 0

        transformation = build_transformation(self.tables, note_key)
        return kind(problem, transformation, self.estimator, self._redraw if keys else None)

    def _redraw(self, rng: Rng) -> Any:
        """Return the transformation with keys of its own for a run; only its first state depends on them."""
        return build_transformation(self.tables, lambda: int(rng.integers(0, 2**31)))


def optax_optimizer(
    name: str = "",
    chain: Sequence[Mapping[str, Any]] | Mapping[str, Any] = (),
    estimator: Estimator | None = None,
    **options: Any,
) -> Optax:
    """A gradient transformation of Optax: `optax.NAME(**options)`, its steps compiled before the clock runs.

    A schedule, or a transformation inside of another, is a table with a `name` in the place of a value.

    Parameters:
      name: the transformation, as Optax calls it: "adam", "contrib.prodigy".
      chain: transformations that come before it, or the whole chain: a list of tables, in a list.
      estimator: what draws the gradients; the problem's own gradient, if not given.
    """
    tables = read_chain(name, chain, options)
    build_transformation(tables)  # every mistake is found here, before anything is timed
    return Optax(tables, estimator)


optax_optimizer.solves = Smooth  # type: ignore[attr-defined]
optax_optimizer.tuning = {"learning_rate": Log(1e-5, 1)}  # type: ignore[attr-defined]
optax_optimizer.check_with = (  # type: ignore[attr-defined]
    {"name": "adam", "learning_rate": 0.1},
    {"name": "sgd", "learning_rate": 0.05},
)
