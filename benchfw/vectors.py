"""A problem as functions of vectors: `VectorOracles`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.errors import BenchfwError

Vector = NDArray[np.float64]


class VectorOracles:
    """A problem's oracles as functions of flat float64 vectors in NumPy, which most libraries ask for.

    The problem counts their calls. `start` is where it begins, and `box` the lower and the upper bounds as
    two vectors, or None where it has none.
    """

    def __init__(self, problem: Any) -> None:
        self._problem, self._backend = problem, problem.backend
        start = problem.start()
        if not (hasattr(start, "shape") and hasattr(start, "dtype")):
            raise BenchfwError(
                f"the parameters of {type(problem).__name__} are {type(start).__name__}, not an array; "
                "choose another problem or another method"
            )
        self._shape, self._dtype = start.shape, start.dtype
        self.start = self.vector(start).copy()
        self.has_both = callable(getattr(problem, "value_and_grad", None))
        self.has_hessp = callable(getattr(problem, "hessp", None))
        box = getattr(problem, "box", None)
        self.box: tuple[Vector, Vector] | None = box and (self._bound(box[0]), self._bound(box[1]))

    def value(self, vector: Vector) -> float:
        """Return the value."""
        return float(self._problem.value(self.params(vector)))

    def grad(self, vector: Vector) -> Vector:
        """Return the gradient, (d,)."""
        return self.vector(self._problem.grad(self.params(vector)))

    def value_and_grad(self, vector: Vector) -> tuple[float, Vector]:
        """Return both: where the problem `has_both`, for the cost of a gradient."""
        if not self.has_both:
            return self.value(vector), self.grad(vector)
        value, gradient = self._problem.value_and_grad(self.params(vector))
        return float(value), self.vector(gradient)

    def hessp(self, vector: Vector, direction: Vector) -> Vector:
        """Return the Hessian times a direction, (d,), where the problem `has_hessp`."""
        return self.vector(self._problem.hessp(self.params(vector), self.params(direction)))

    def answer(self, vector: Vector) -> Any:
        """Return a copy of a vector as parameters, which stays what it is when the library goes on."""
        return self.params(np.array(vector))

    def params(self, vector: Vector) -> Any:
        """Return a vector as parameters: in the shape, the type and on the backend of the start."""
        return self._backend.asarray(np.reshape(vector, self._shape), dtype=self._dtype)

    def vector(self, params: Any) -> Vector:
        """Return parameters, or a gradient, as a vector."""
        return np.asarray(self._backend.to_numpy(params), dtype=np.float64).reshape(-1)

    def _bound(self, bound: Any) -> Vector:
        return np.broadcast_to(self._backend.to_numpy(bound), self._shape).astype(np.float64).reshape(-1)
