"""The library linear_operator (Gardner et al. 2018), the linear algebra of GPyTorch."""

from __future__ import annotations

import math
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from benchfw import Claims, Count, Rng, SpectralSum
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.peers import check_function, import_peer, stored_matrix
from benchfw_spectral.probes import ValueDraw


@dataclass(frozen=True)
class PeerLinearOperator:
    """log det by the batched conjugate gradients of linear_operator, without a preconditioner.

    Only "log", with probes of its own, and no standard error. It multiplies by itself; probes x (steps + 1)
    products are counted, one a probe for the residual of the start.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    steps: Count = 20
    """Steps of the conjugate gradients."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: Any, rng: Rng) -> ValueDraw:
        """Draw a seed; return the log determinant that linear_operator finds with it."""
        library = import_peer("linear_operator", "linear_operator")
        check_function(problem, "peer-linear-operator", ("log",))
        matrix = _operator(library, stored_matrix(problem, "peer-linear-operator"))
        return ValueDraw(problem, partial(self._trace, library.settings, matrix, rng.integers(1 << 32)))

    def _trace(self, settings: Any, matrix: Any, seed: int, problem: Any) -> Estimate:
        import torch

        problem.charge(self.probes * (self.steps + 1))
        with ExitStack() as stack:
            for each in (
                torch.no_grad(),
                torch.random.fork_rng(),
                settings.max_cholesky_size(0),
                settings.max_preconditioner_size(0),
                settings.num_trace_samples(self.probes),
                settings.max_lanczos_quadrature_iterations(self.steps),
                # no more iterations than the quadrature takes
                settings.max_cg_iterations(self.steps),
                settings.cg_tolerance(math.inf),
            ):
                stack.enter_context(each)
            torch.manual_seed(seed)
            return Estimate(float(matrix.logdet()), math.nan)


def _operator(library: Any, stored: Any) -> Any:
    """Return the library's operator of a NumPy array, or of sparse rows by their product."""
    import torch

    if not hasattr(stored, "tocsr"):
        return library.to_linear_operator(torch.from_numpy(stored))
    arrays = (torch.from_numpy(each) for each in (stored.indptr, stored.indices, stored.data))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its sparse rows a beta
        rows = torch.sparse_csr_tensor(*arrays, size=stored.shape, check_invariants=False)

    class SparseRows(library.LinearOperator):  # type: ignore[misc]
        def _matmul(self, rhs: Any) -> Any:
            return rows @ rhs

        def _size(self) -> Any:
            return torch.Size(stored.shape)

        def _transpose_nonbatch(self) -> Any:
            return self

    return SparseRows(rows)
