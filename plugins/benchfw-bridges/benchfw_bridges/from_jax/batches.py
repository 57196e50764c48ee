"""Finds out which samples a draw of an estimator is the mean gradient of, without computing it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchfw import Array, BenchfwError, Estimator, Rng, draws_of

ASKED = object()
"""Stands for parameters: the answer to it is a `Batch`."""


class Batch(NamedTuple):
    """The samples that a gradient was asked over; None stands for all of them."""

    samples: Array | None


class NotPlain(Exception):
    """An estimator asked for more than one gradient at the parameters that it was given."""


class Listener:
    """A problem that answers with what it was asked, and computes nothing."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self._problem, name)

    def grad(self, params: Any) -> Batch:
        """Answer that all samples were asked for."""
        return _answer(params, None)

    def grad_batch(self, params: Any, batch: Array) -> Batch:
        """Answer with the batch."""
        return _answer(params, batch)

    def _refuse(self, *_: Any) -> Any:
        raise NotPlain

    value = value_and_grad = grad_samples = _refuse


def _answer(params: Any, samples: Array | None) -> Batch:
    if params is not ASKED:
        raise NotPlain
    return Batch(samples)


def draws_batches(estimator: Estimator | None, problem: Any) -> bool:
    """Return whether every draw is one gradient, over all samples or a batch: an SVRG gradient is not."""
    if estimator is None:
        return True
    try:
        return isinstance(next(batches_of(estimator, problem, problem.backend.rng(0))), Batch)
    except BenchfwError:
        raise  # it does not go with this problem
    except Exception:  # noqa: BLE001 - it computes with what it is given, and that is not an array
        return False


def batches_of(estimator: Estimator | None, problem: Any, rng: Rng) -> Iterator[Batch]:
    """Yield the batch of each step."""
    if estimator is None:
        while True:
            yield Batch(None)
    for draw in draws_of(estimator, Listener(problem), rng):
        yield draw(ASKED)
