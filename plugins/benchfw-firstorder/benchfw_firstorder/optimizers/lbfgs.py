"""SciPy's L-BFGS-B, iterate by iterate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from benchfw import Array, Count, Rng, Smooth

Minimize = Callable[[Callable[[Any], None]], None]


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS-B of SciPy (Byrd et al. 1995), the quasi-Newton method that most users would reach for.

    Every line search evaluates value and gradient at each trial point; where the problem has `value_and_grad`
    the two share their product with the data and cost one gradient. Where it has a `box` the bounds are
    passed on; a penalty is not seen. The run ends when a line search finds no lower value, as a rule at the
    rounding of the objective.
    """

    memory: Count = 10
    """Past steps that make the Hessian."""

    solves: ClassVar[type] = Smooth

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …: the points that end SciPy's iterations."""
        backend = problem.backend
        x = problem.start()
        yield x
        for point in iterates(partial(self._minimize, problem, backend.to_numpy(x))):
            yield backend.asarray(point, dtype=x.dtype)  # SciPy's are float64

    def _minimize(self, problem: Smooth, start: Any, report: Callable[[Any], None]) -> None:
        from scipy.optimize import minimize

        backend = problem.backend
        box = getattr(problem, "box", None)
        ends = box and [np.broadcast_to(backend.to_numpy(each), start.shape) for each in box]

        together = getattr(problem, "value_and_grad", None)

        def value_and_gradient(point: Any) -> tuple[float, Any]:
            params = backend.asarray(point)
            value, gradient = together(params) if together else (problem.value(params), problem.grad(params))
            return value, backend.to_numpy(gradient)

        minimize(
            value_and_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=ends and list(zip(*ends, strict=True)),
            callback=lambda point: report(np.array(point)),
            options={"maxcor": self.memory, "ftol": 0.0, "gtol": 0.0, "maxiter": 10**9, "maxfun": 10**9},
        )


class _Closed(Exception):
    """Ends the routine from inside its callback: nobody wants more iterates."""


def iterates(routine: Minimize) -> Iterator[Any]:
    """Yield what a blocking routine reports to its callback, letting it work only while an item is asked for.

    The routine runs in a thread of its own that sleeps between requests, so that a clock around next() times
    it and nothing else. Closing the generator ends the thread; the routine's errors are raised here.
    """
    from queue import SimpleQueue
    from threading import Thread

    wanted: SimpleQueue[bool] = SimpleQueue()
    reported: SimpleQueue[tuple[str, Any]] = SimpleQueue()

    def report(point: Any) -> None:
        reported.put(("point", point))
        if not wanted.get():
            raise _Closed

    def work() -> None:
        try:
            routine(report)
        except _Closed:
            pass
        except BaseException as fault:  # noqa: BLE001 - handed to the thread that asked
            reported.put(("fault", fault))
        else:
            reported.put(("end", None))

    thread = Thread(target=work, name="lbfgs", daemon=True)
    thread.start()
    try:
        while True:
            kind, item = reported.get()
            if kind == "end":
                return
            if kind == "fault":
                raise item
            yield item
            wanted.put(True)
    finally:
        wanted.put(False)
        thread.join()
