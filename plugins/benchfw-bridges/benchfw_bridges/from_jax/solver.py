"""Solvers written in JAX that only return: functions like SciPy's minimize, classes like those of JAXopt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from benchfw import Array, BenchfwError, CodePlace, Rng
from benchfw.errors import nearest
from benchfw.loading import load_attributes
from benchfw_bridges.from_jax.problem import Loss, Traceable
from benchfw_bridges.from_jax.runtime import import_jax

Solve = Callable[[Loss, Any, Any], Any]
"""What a solver is called with: the function, where it starts, and the number of its iterations."""


@dataclass(frozen=True)
class JaxSolver:
    """A solver that is called with growing numbers of iterations; `jax_solver` makes one."""

    function: str
    """Where it is, "module:attribute"."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Its options."""
    call: Callable[[int], Array] | None = field(default=None, repr=False, compare=False)
    """The compiled solver for a problem."""

    solves: ClassVar[type] = Traceable

    def prepare(self, problem: Traceable) -> JaxSolver:
        """Compile the whole solve, for any number of iterations."""
        return replace(self, call=self._compile(problem))

    def solve(self, problem: Traceable, rng: Rng, effort: int) -> Array:
        """Return the answer of one call of so many iterations, from the start."""
        return (self.call or self._compile(problem))(effort)

    def _compile(self, problem: Traceable) -> Callable[[int], Array]:
        runtime = problem.runtime
        jax = runtime.jax
        solver = read_solver(self.function, self.options)

        def solve(loss: Loss, start: Any, iterations: Any) -> Any:
            found = solver(lambda flat: loss(problem.unravel(flat)), start, iterations)
            return answer_of(found), evaluations_of(found)

        with runtime.precision():
            start = runtime.put(problem.start())
            compiled = problem.compile(solve, cost=None)
            try:
                jax.block_until_ready(compiled.rehearse(start, 1))
            except (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError) as fault:
                raise BenchfwError(
                    f"{self.function} takes its number of iterations as a constant, and so would be compiled "
                    "on the clock in every call; wrap it in a function that loops by jax.lax.while_loop"
                ) from fault

        def call(effort: int) -> Array:
            with runtime.precision():
                answer, evaluations = compiled(start, effort)
                found = runtime.get(answer)
            if evaluations is not None:
                problem.charge(float(evaluations))
            return found

        return call


def jax_solver(function: CodePlace = "jax.scipy.optimize:minimize", **options: Any) -> JaxSolver:
    """A solver written in JAX that only returns: a call for each number of iterations, from the start.

    It is a function of (f, x0, …) that takes `maxiter`, or `options` with it as SciPy's minimize does, or a
    class with `run(x0)` that is made with `fun` and `maxiter`. Its answer is what it returns, or the member
    `x` or `params` of that. Gradients are declared where the result has `njev`, or a state with
    `num_grad_eval`; otherwise the cost is not known.

    Parameters:
      function: where it is, "module:attribute" or "file.py:attribute".
    """
    read_solver(function, options)
    return JaxSolver(function, options)


jax_solver.solves = Traceable  # type: ignore[attr-defined]
jax_solver.check_with = ({"method": "BFGS"},)  # type: ignore[attr-defined]


def read_solver(place: str, options: Mapping[str, Any]) -> Solve:
    """Return how a solver is called; a wrong option is a BenchfwError."""
    import_jax()
    (solver,) = load_attributes(place)
    is_class = isinstance(solver, type)
    if not callable(solver):
        raise BenchfwError(f"{place} is not a solver: it cannot be called")
    parameters = inspect.signature(solver).parameters
    free = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    for key in options:
        if key not in parameters and not free:
            raise BenchfwError(f"{place} has no option '{key}'{nearest(key, parameters)}")
    missing = [
        key
        for key, each in list(parameters.items())[1 if is_class else 2 :]
        if each.default is each.empty and each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}
        if key not in {"maxiter", "options", *options}
    ]
    if missing:
        raise BenchfwError(f"{place} needs the option '{missing[0]}'")
    if is_class:
        return lambda loss, start, maxiter: solver(loss, maxiter=maxiter, **options).run(start)
    if "maxiter" in parameters or free:
        return lambda loss, start, maxiter: solver(loss, start, maxiter=maxiter, **options)
    if "options" not in parameters:
        raise BenchfwError(f"{place} takes neither 'maxiter' nor 'options', so its effort cannot be set")
    others = {key: value for key, value in options.items() if key != "options"}
    inner = dict(options.get("options", {}))
    return lambda loss, start, maxiter: solver(loss, start, options=inner | {"maxiter": maxiter}, **others)


def answer_of(found: Any) -> Any:
    """Return the answer in what a solver returned."""
    return getattr(found, "x", getattr(found, "params", found))


def evaluations_of(found: Any) -> Any:
    """Return how many gradients a solver evaluated, if it says so."""
    state = getattr(found, "state", None)
    return getattr(found, "njev", getattr(state, "num_grad_eval", None))
