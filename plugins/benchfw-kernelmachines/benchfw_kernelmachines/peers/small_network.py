"""A small network of torch on the rows that the kernel machines see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, cast

import numpy as np

from benchfw import Array, Backend, Count, Log, Positive, Rng, Unavailable
from benchfw_kernelmachines.oracles import KernelRisk


@dataclass(frozen=True)
class NetworkPredictor:
    """The function that a network computes with these weights in place of its own."""

    backend: Backend
    network: Any  # the same for all answers of a run
    weights: Mapping[str, Any]
    num_features: int  # hidden units

    def predict(self, rows: Array) -> Array:
        """Return f at new rows, (n, d) -> (n, C)."""
        torch = _torch()
        scores = torch.func.functional_call(self.network, self.weights, torch.as_tensor(rows))
        return self.backend.xp.from_dlpack(scores)

    def squared_norm(self) -> float:
        """Return the sum of the squared weights, which the network has in place of |f|²."""
        return float(sum((each**2).sum() for each in self.weights.values()))


@dataclass(frozen=True)
class SmallNetwork:
    """Two fully connected layers, ReLU between them, by Adam: the "fixed" rival of Dai et al. 2014.

    It minimizes λ/2 |weights|² + mean ℓ(f(x), y): the penalty is not that of the kernel machines, so compare
    errors, and objectives only among networks.
    """

    width: Count = 512
    """Units of the inner layer."""
    batch: Count = 256
    """Rows a step."""
    step: Positive = 1e-3
    """Adam's step length."""

    solves: ClassVar[type] = KernelRisk
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-5, 0.1)}

    def prepare(self, problem: KernelRisk) -> SmallNetwork:
        """Take a step with a network that is thrown away: torch sets itself up in its first one."""
        torch = _torch()
        network, adam = self._start(torch, problem, problem.backend.rng(0))
        scores = network(
            torch.as_tensor(problem.backend.xp.zeros((self.batch, problem.dimension), np.float32))
        )
        scores.backward(torch.zeros_like(scores))
        adam.step()
        return self

    def run(self, problem: KernelRisk, rng: Rng) -> Iterator[NetworkPredictor]:
        """Yield the network after every step, the random start first."""
        torch = _torch()
        network, adam = self._start(torch, problem, rng)
        batches = problem.batches(rng, self.batch)
        while True:
            weights = {name: each.detach().clone() for name, each in network.named_parameters()}
            yield NetworkPredictor(problem.backend, network, weights, self.width)
            rows, targets = next(batches)
            scores = network(torch.as_tensor(rows))
            slopes = problem.loss.derivative(problem.backend.xp.from_dlpack(scores.detach()), targets)
            adam.zero_grad()
            scores.backward(torch.as_tensor(slopes) / slopes.shape[0])
            adam.step()

    def _start(self, torch: ModuleType, problem: KernelRisk, rng: Rng) -> tuple[Any, Any]:
        """Return the network with torch's usual random weights, where the rows are, and its Adam."""
        device = torch.as_tensor(problem.backend.xp.zeros(1)).device
        with torch.random.fork_rng():
            torch.manual_seed(rng.integers(1 << 32))
            layers = torch.nn.Linear(problem.dimension, self.width), torch.nn.ReLU()
            network = torch.nn.Sequential(*layers, torch.nn.Linear(self.width, problem.num_outputs)).to(
                device
            )
        adam = torch.optim.Adam(network.parameters(), lr=self.step, weight_decay=problem.penalty)
        return network, adam


def _torch() -> ModuleType:
    try:
        import torch
    except ImportError as fault:
        raise Unavailable("torch is not installed; pip install torch") from fault
    return cast(ModuleType, torch)
