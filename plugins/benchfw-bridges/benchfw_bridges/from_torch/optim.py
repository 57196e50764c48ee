"""The optimizers of torch.optim on problems of any backend."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

from benchfw import Array, BenchfwError, Count, Estimator, Log, Params, Rng, Smooth, draws_of, from_callback
from benchfw.errors import nearest
from benchfw_bridges.from_torch.library import as_tensor, import_torch

LEFT_OUT = frozenset({"Optimizer", "SparseAdam", "Muon"})
"""The base class, one for sparse gradients alone, and one for matrices alone."""
Gradient = Callable[[Params], Array]


class TorchOptim:
    """An optimizer of torch.optim: `name` is its class, every other parameter is handed to it.

    Its gradients are the problem's: all of it, or what an estimator draws, one draw a step. Parameters and
    gradients share the memory of the problem's arrays. One that takes a closure, such as LBFGS, is given the
    value with the gradient. After each step the problem projects the parameters.

    Parameters:
      name: a class of torch.optim, such as "Adam".
      estimator: what draws the gradients; the problem's own gradient, if not given.
      batch: samples of the mini-batches to draw, with replacement, in the place of an estimator.
      options: the parameters of the class, such as lr.
    """

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"lr": Log(1e-5, 1)}
    check_with: ClassVar[tuple[dict[str, Any], ...]] = (
        {"name": "SGD", "lr": 0.1},
        {"name": "LBFGS", "max_iter": 4},
    )

    def __init__(
        self, name: str, estimator: Estimator | None = None, batch: Count | None = None, **options: Any
    ) -> None:
        self.name, self.estimator, self.batch, self.options = name, estimator, batch, options
        if not options.get("capturable"):  # which no CPU is
            self._rehearse("cpu")  # a wrong option is found before anything is measured
        if self.estimator is not None and self.batch is not None:
            raise BenchfwError("torch-optim takes an estimator or a batch; give one of the two")
        if self._takes_closure and (self.estimator, self.batch) != (None, None):
            raise BenchfwError(
                f"torch.optim.{self.name} asks for values too, which an estimator of the gradient does not "
                "have; leave out estimator and batch"
            )

    @property
    def _kind(self) -> Any:
        optimizers = vars(import_torch().optim)
        base = optimizers["Optimizer"]
        known = {
            name: each
            for name, each in optimizers.items()
            if isinstance(each, type) and issubclass(each, base) and name not in LEFT_OUT
        }
        if self.name not in known:
            raise BenchfwError(f"torch.optim has no optimizer '{self.name}'{nearest(self.name, known)}")
        return known[self.name]

    @property
    def _takes_closure(self) -> bool:
        return inspect.signature(self._kind.step).parameters["closure"].default is inspect.Parameter.empty

    def _make(self, parameters: Any) -> Any:
        """Return the optimizer of these parameters; BenchfwError where an option is wrong."""
        kind = self._kind
        legal = [each for each in inspect.signature(kind).parameters if each not in {"self", "params"}]
        for option in self.options:
            if option not in legal:
                raise BenchfwError(
                    f"torch.optim.{self.name} has no option '{option}'{nearest(option, legal, ';')} "
                    f"its options: {', '.join(legal)}"
                )
        return kind([parameters], **self.options)

    def _rehearse(self, place: Any) -> None:
        """Take two steps on a parabola; BenchfwError where an option is wrong, some show in steps alone."""
        number = import_torch().ones(1, device=place)

        def closure() -> float:
            number.grad = 0.3 * number
            return 0.15 * float(number) ** 2

        closure()
        try:
            optimizer = self._make(number)
            for _ in range(2):
                optimizer.step(closure)
        except (TypeError, ValueError, RuntimeError, LookupError, AssertionError) as fault:
            raise BenchfwError(f"torch.optim.{self.name} refuses its options: {fault}") from fault

    def prepare(self, problem: Smooth) -> TorchOptim:
        """Take steps on a number where the parameters lie: torch imports and sets up much at the first."""
        self._rehearse(as_tensor(_start(problem)).device)
        return self

    @from_callback
    def run(self, problem: Any, rng: Rng, callback: Callable[[Any], None]) -> None:
        """Call back with the parameters after each step: always the same array, which torch writes into."""
        params = copy.deepcopy(_start(problem))  # the problem may keep its own
        tensor = as_tensor(params)
        optimizer = self._make(tensor)
        steps = self._closures if self._takes_closure else self._gradients
        for closure in steps(problem, rng, params, tensor):
            optimizer.step(closure)
            feasible = problem.project(params)
            if feasible is not params:
                tensor.copy_(as_tensor(feasible))
            callback(params)

    def _gradients(self, problem: Any, rng: Rng, params: Array, tensor: Any) -> Iterator[None]:
        """Give the tensor its gradient, step after step."""
        for gradient in self._draws(problem, rng):
            tensor.grad = as_tensor(gradient(params))
            yield None

    def _closures(self, problem: Any, rng: Rng, params: Array, tensor: Any) -> Iterator[Callable[[], float]]:
        """Yield what gives the tensor its gradient, and returns the value, as often as it is called."""
        together = getattr(problem, "value_and_grad", None)

        def closure() -> float:
            value, gradient = together(params) if together else (problem.value(params), problem.grad(params))
            tensor.grad = as_tensor(gradient)
            return float(value)

        while True:
            yield closure

    def _draws(self, problem: Any, rng: Rng) -> Iterator[Gradient]:
        """Yield the gradient of each step, as the family of first-order methods draws them."""
        if self.estimator is not None:
            yield from draws_of(self.estimator, problem, rng)
        if self.batch is None:
            while True:
                yield problem.grad
        if not hasattr(problem, "grad_batch"):
            raise BenchfwError(
                "mini-batches need a finite sum, and the problem has no grad_batch; leave out batch"
            )
        while True:
            batch = rng.integers(0, problem.num_samples, size=self.batch)
            yield partial(problem.grad_batch, batch=batch)


def _start(problem: Any) -> Array:
    start = problem.start()
    if not hasattr(start, "dtype") or not hasattr(start, "shape"):
        raise BenchfwError(
            f"torch-optim needs parameters that are one array; those of the problem are "
            f"{type(start).__name__}"
        )
    return start
