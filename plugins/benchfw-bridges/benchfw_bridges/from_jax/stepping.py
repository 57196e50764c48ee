"""Steps of a gradient transformation, compiled: the update alone, or together with the gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchfw import Array, BenchfwError, Estimator, Rng, Smooth, draws_of
from benchfw_bridges.from_jax.batches import batches_of
from benchfw_bridges.from_jax.problem import Loss, Traceable
from benchfw_bridges.from_jax.runtime import Runtime, import_optax

REHEARSALS = 2  # what a step returns may be of another kind than the start, and is compiled for once more


Redraw = Callable[[Rng], Any]
"""What returns the transformation of a run, if that is random by itself."""


class Needs(NamedTuple):
    """What an update uses beside the gradient: the function's value, the function itself."""

    value: bool
    function: bool


class SeparateSteps:
    """Gradients by the oracles of a problem, updates by a compiled function."""

    def __init__(
        self, problem: Smooth, transformation: Any, estimator: Estimator | None, redraw: Redraw | None
    ) -> None:
        self._problem, self._estimator, self._redraw = problem, estimator, redraw
        start = problem.start()
        if not (hasattr(start, "dtype") and hasattr(start, "shape")):
            raise BenchfwError(
                f"optax needs parameters that are one array; those of the problem are {type(start).__name__}"
            )
        self._runtime = getattr(problem, "runtime", None) or Runtime(problem.backend, start)
        self._unravel = getattr(problem, "unravel", None)
        jax, self._optax = self._runtime.jax, import_optax()
        with self._runtime.precision():
            flat = self._runtime.put(start)
            self._params = self._unravel(flat) if self._unravel else flat
            self._state = transformation.init(self._params)
            needs = find_needs(jax, transformation, self._params, self._state)
            if needs.function:
                raise BenchfwError(
                    "this transformation evaluates the function within a step, as a line search does, and so "
                    "needs one that is written in JAX without an estimator: use the problem 'jax-function'"
                )
            if needs.value and estimator is not None:
                raise BenchfwError(
                    "this transformation needs the value of the function, which an estimator does not draw; "
                    "leave out the estimator"
                )
            self._needs_value = needs.value
            self._step = jax.jit(lambda *given: self._update(transformation, *given))
            params, state = self._params, self._state
            gradient = self._runtime.argument(problem.backend.xp.zeros_like(start))
            for _ in range(REHEARSALS):
                params, _, state = self._step(gradient, 0.0, state, params)
            jax.block_until_ready(params)

    def _update(self, transformation: Any, flat: Any, value: Any, state: Any, params: Any) -> Any:
        gradient = self._unravel(flat) if self._unravel else flat
        updates, state = transformation.update(
            gradient, state, params, value=value, grad=gradient, value_fn=None
        )
        params = self._optax.apply_updates(params, updates)
        return (
            params,
            self._runtime.jax.flatten_util.ravel_pytree(params)[0] if self._unravel else None,
            state,
        )

    def run(self, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        problem, runtime = self._problem, self._runtime
        params, state, x = self._params, self._state, problem.start()
        if self._redraw is not None:
            with runtime.precision():
                state = self._redraw(rng).init(params)
        gradients = self._gradients(rng)
        while True:
            yield x
            gradient, value = next(gradients)(x)
            with runtime.precision():
                params, flat, state = self._step(runtime.argument(gradient), value, state, params)
                x = runtime.get(params if flat is None else flat)
            projected = problem.project(x)
            if projected is not x:
                x = projected
                with runtime.precision():
                    params = self._unravel(runtime.put(x)) if self._unravel else runtime.put(x)

    def _gradients(self, rng: Rng) -> Iterator[Any]:
        """Yield functions of the parameters that return the gradient and the value, if that is needed."""
        problem = self._problem

        def whole(x: Array) -> tuple[Any, float]:
            together = getattr(problem, "value_and_grad", None)
            if not self._needs_value:
                return problem.grad(x), 0.0
            value, gradient = together(x) if together else (problem.value(x), problem.grad(x))
            return gradient, value

        if self._estimator is None:
            while True:
                yield whole
        for draw in draws_of(self._estimator, problem, rng):
            yield lambda x, draw=draw: (draw(x), 0.0)


class JointSteps:
    """Gradient and update in one compiled function, where the problem is written in JAX."""

    def __init__(
        self, problem: Traceable, transformation: Any, estimator: Estimator | None, redraw: Redraw | None
    ) -> None:
        self._problem, self._estimator, self._transformation = problem, estimator, transformation
        self._redraw = redraw
        self._runtime, self._optax = problem.runtime, import_optax()
        jax = self._runtime.jax
        with self._runtime.precision():
            self._params = problem.unravel(self._runtime.put(problem.start()))
            self._is_vector = getattr(self._params, "ndim", None) == 1
            self._state = transformation.init(self._params)
            self._searches = find_needs(jax, transformation, self._params, self._state).function
            self._stored = _stores_gradient(self._optax, self._state)
        samples = next(batches_of(estimator, problem, problem.backend.rng(0))).samples
        if self._searches and samples is not None:
            raise BenchfwError(
                "this transformation searches along the function, which changes with every batch; leave out "
                "the estimator"
            )
        with self._runtime.precision():
            self._step = problem.compile(self._advance, cost=None if self._searches else 1.0)
            params, state = self._params, self._state
            for _ in range(REHEARSALS):
                params, _, state = self._step.rehearse(params, state, samples)
            jax.block_until_ready(params)

    def _advance(self, loss: Loss, params: Any, state: Any) -> Any:
        jax, optax = self._runtime.jax, self._optax
        if self._stored:
            value, gradient = optax.value_and_grad_from_state(loss)(params, state=state)
        else:
            value, gradient = jax.value_and_grad(loss)(params)
        updates, state = self._transformation.update(
            gradient, state, params, value=value, grad=gradient, value_fn=loss
        )
        params = optax.apply_updates(params, updates)
        return params, None if self._is_vector else jax.flatten_util.ravel_pytree(params)[0], state

    def run(self, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        runtime, params, state = self._runtime, self._params, self._state
        if self._redraw is not None:
            with runtime.precision():
                state = self._redraw(rng).init(params)
        yield self._problem.start()
        for number, batch in enumerate(batches_of(self._estimator, self._problem, rng)):
            with runtime.precision():
                params, flat, state = self._step(params, state, batch.samples)
                x = runtime.get(params if flat is None else flat)
            if self._searches:
                self._problem.charge(self._search_cost(state, first=number == 0))
            yield x

    def _search_cost(self, state: Any, *, first: bool) -> float:
        """Return what a step with a line search costs, by the number of points that it tried.

        The zoom search takes the gradient at every point; backtracking the value, and the gradient at the
        last if it keeps that.
        """
        info = self._optax.tree_utils.tree_get(state, "info")
        tried = float(info.num_linesearch_steps)
        search = tried if hasattr(info, "curvature_error") else 0.5 * (tried + self._stored)
        return search + (first or not self._stored)


def find_needs(jax: Any, transformation: Any, params: Any, state: Any) -> Needs:
    """Return what an update uses, found by tracing it."""
    asked = []

    def function(point: Any) -> Any:
        asked.append(point)
        return sum(each.sum() for each in jax.tree.leaves(point))

    def update(value: Any, gradient: Any, state: Any, params: Any) -> Any:
        return transformation.update(gradient, state, params, value=value, grad=gradient, value_fn=function)

    traced = jax.make_jaxpr(update)(0.0, params, state, params).jaxpr
    value = traced.invars[0]
    used = [each for equation in traced.eqns for each in equation.invars] + traced.outvars
    return Needs(value=any(each is value for each in used), function=bool(asked))


def _stores_gradient(optax: Any, state: Any) -> bool:
    """Return whether a state keeps value and gradient at the parameters, as line searches do."""
    try:
        kept = [optax.tree_utils.tree_get(state, name) for name in ("value", "grad")]
    except KeyError:  # several
        return False
    return all(each is not None for each in kept)
