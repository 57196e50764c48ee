"""A problem from a function written in JAX."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from benchfw import Array, Backend, BenchfwError, CodePlace, Count, CountedProblem, Rng, Smooth, clip_gap
from benchfw.loading import load_attributes
from benchfw_bridges.from_jax.runtime import Runtime, start_jax

Tree: TypeAlias = object
"""A pytree, what returns one, or where it is."""
Loss = Callable[[Any], Any]
Use = Callable[[Loss, Any, Any], Any]


class Compiled:
    """A compiled function of (params, state, batch) that counts its calls."""

    def __init__(self, call: Callable[[Any, Any, Any], Any], count: Callable[[Any], None]) -> None:
        self._call, self._count = call, count

    def __call__(self, params: Any, state: Any, batch: Array | None = None) -> Any:
        self._count(batch)
        return self._call(params, state, batch)

    def rehearse(self, params: Any, state: Any, batch: Array | None = None) -> Any:
        """Return what a call would, uncounted: so that it is compiled for arguments of this kind."""
        return self._call(params, state, batch)


class Traceable(Smooth, Protocol):
    """A problem whose function JAX compiles together with what uses it."""

    runtime: Runtime
    """Converts arrays."""

    def unravel(self, params: Any) -> Any:
        """Return a vector of JAX as the pytree that the function takes."""
        ...

    def compile(self, use: Use, cost: float | None) -> Compiled:
        """Return (params, state, batch) ↦ use(loss, params, state) as one function.

        A call costs so many gradients, over a batch its share; None leaves that to the caller.
        """
        ...


class JaxFunction(CountedProblem):
    """A function written in JAX, with gradients by `jax.value_and_grad`, compiled before the clock runs.

    Its parameters, a pytree of arrays, are one vector here. A gradient costs 1, a value ½, a gradient over a
    batch its share of the samples. It has 64 bits where the start has them: as an array of NumPy, or of JAX
    where `jax_enable_x64` is set.

    Parameters:
      function: f(params), or f(params, batch), a mean over the rows of batch; by "module:attribute".
      start: where methods begin, a pytree of arrays, or a function that returns it, maybe of a random key.
      data: what `batch` has all rows of, a pytree of arrays or a function that returns it, as for start.
      optimum: parameters of the least value, if known: then there is a gap.
      batch_size: batches of so many rows are compiled in advance; others at the first call, on the clock.
    """

    cost_unit = "gradients"
    check_with = (
        {
            "function": "benchfw_bridges.from_jax.example:mean_square",
            "start": "benchfw_bridges.from_jax.example:start",
            "data": "benchfw_bridges.from_jax.example:data",
        },
    )

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        function: CodePlace | Callable[..., Any],
        start: CodePlace | Tree,
        data: CodePlace | Tree = None,
        optimum: CodePlace | Tree = None,
        batch_size: Count | None = None,
    ) -> None:
        jax = start_jax()
        self._function, start, data, optimum = load_attributes(function, start, data, optimum)
        tree = jax.tree.map(np.asarray, _make(jax, start, rng))
        like = np.zeros(0, _check_start(jax, tree))
        self.backend, self.runtime = backend, Runtime(backend, backend.asarray(like))
        if not callable(self._function):
            raise BenchfwError(f"function must be a function of JAX arrays, got {self._function!r}")
        self._rows = None if data is None else _make(jax, data, rng)
        with self.runtime.precision():
            self._rows = jax.tree.map(lambda each: self.runtime.put(np.asarray(each)), self._rows)
            flat, self._unravel = jax.flatten_util.ravel_pytree(jax.tree.map(self.runtime.put, tree))
            self._start = backend.read_only(self.runtime.get(flat))
            self._compile(jax)
            if optimum is not None:
                best = jax.tree.map(lambda each: self.runtime.put(np.asarray(each)), optimum)
                self.optimum = self.runtime.get(jax.flatten_util.ravel_pytree(best)[0])
        if self._rows is not None:
            self.num_samples = _count_rows(jax, self._rows)
            if batch_size is not None:
                self._mean_gradient(self._start, backend.asarray(np.zeros(batch_size, np.int64)))

    def _compile(self, jax: Any) -> None:
        def loss(flat: Any, rows: Any) -> Any:
            return self._loss(self.unravel(flat), rows)

        start = self.runtime.put(self._start)
        found = jax.eval_shape(loss, start, self._rows)
        if not hasattr(found, "shape"):
            raise BenchfwError(f"the function must return a number, and returns a {type(found).__name__}")
        shape, kind = found.shape, found.dtype
        if shape != () or not jax.numpy.issubdtype(kind, jax.numpy.floating):
            raise BenchfwError(
                f"the function must return a number, and returns an array of shape {shape} of {kind}"
            )
        self._value = jax.jit(loss)
        self._both = jax.jit(jax.value_and_grad(loss))
        self._batched = jax.jit(lambda flat, rows, batch: jax.grad(loss)(flat, _take(jax, rows, batch)))
        for each in (self._value, self._both):
            jax.block_until_ready(each(self.runtime.argument(self._start), self._rows))

    def _loss(self, params: Any, rows: Any) -> Any:
        return self._function(params) if rows is None else self._function(params, rows)

    def unravel(self, params: Any) -> Any:
        """Return a vector of JAX as the pytree that the function takes."""
        return self._unravel(params)

    def start(self) -> Array:
        """Return the start as a vector."""
        return self.backend.xp.asarray(self._start, copy=True)

    def value(self, params: Array) -> float:
        """Return f."""
        self._count(0.5)
        return self.objective(params)

    def grad(self, params: Array) -> Array:
        """Return ∇f."""
        return self.value_and_grad(params)[1]

    def value_and_grad(self, params: Array) -> tuple[float, Array]:
        """Return both, which JAX computes together."""
        self._count(1.0)
        with self.runtime.precision():
            value, gradient = self._both(self.runtime.argument(params), self._rows)
            return float(value), self.runtime.get(gradient)

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the gradient of f over some rows of the data."""
        if self._rows is None:
            raise BenchfwError("this jax-function has no data to draw batches from; give it data")
        self._count(len(batch) / self.num_samples)
        return self._mean_gradient(params, batch)

    def _mean_gradient(self, params: Array, batch: Array) -> Array:
        with self.runtime.precision():
            argument = self.runtime.argument
            return self.runtime.get(self._batched(argument(params), self._rows, argument(batch)))

    def project(self, params: Array) -> Array:
        """Return the parameters: every point is feasible."""
        return params

    def objective(self, params: Array) -> float:
        """Return f, uncounted: for metrics, not for methods."""
        with self.runtime.precision():
            return float(self._value(self.runtime.argument(params), self._rows))

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return the objective, and the gap where the optimum is known."""
        objective = self.objective(answer)
        if not hasattr(self, "optimum"):
            return {"objective": objective}
        return {"gap": clip_gap(objective - self.objective(self.optimum), objective), "objective": objective}

    def compile(self, use: Use, cost: float | None) -> Compiled:
        """Return (params, state, batch) ↦ use(loss, params, state) as one compiled function."""
        jax = self.runtime.jax

        def call(params: Any, state: Any, rows: Any, batch: Any) -> Any:
            chosen = rows if batch is None else _take(jax, rows, batch)
            return use(lambda point: self._loss(point, chosen), params, state)

        compiled = jax.jit(call)

        def count(batch: Array | None) -> None:
            if cost is not None:
                self._count(cost if batch is None else cost * len(batch) / self.num_samples)

        def run(params: Any, state: Any, batch: Array | None) -> Any:
            return compiled(params, state, self._rows, self.runtime.argument(batch))

        return Compiled(run, count)


def _make(jax: Any, given: Any, rng: Rng) -> Any:
    """Return a pytree, called for if it is a function: with a random key where it takes one."""
    if not callable(given):
        return given
    if not inspect.signature(given).parameters:
        return given()
    return given(jax.random.key(int(rng.integers(0, 2**31))))


def _check_start(jax: Any, tree: Any) -> Any:
    kinds = [each.dtype for each in jax.tree.leaves(tree)]
    if not kinds or any(each.kind != "f" for each in kinds):
        found = ", ".join(sorted({str(each) for each in kinds})) or "nothing"
        raise BenchfwError(f"start must hold arrays of floating-point numbers, got {found}")
    return np.result_type(*kinds)


def _count_rows(jax: Any, rows: Any) -> int:
    shapes = [each.shape for each in jax.tree.leaves(rows)]
    counts = {shape[:1] for shape in shapes}
    if len(counts) != 1 or counts == {()}:
        raise BenchfwError(f"all arrays of data must have a row for each sample, got shapes {shapes}")
    return int(counts.pop()[0])


def _take(jax: Any, rows: Any, batch: Any) -> Any:
    return jax.tree.map(lambda each: each[batch], rows)
