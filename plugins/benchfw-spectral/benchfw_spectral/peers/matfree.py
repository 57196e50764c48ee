"""The library matfree (Krämer et al.), on JAX."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np

from benchfw import Array, Claims, Count, Rng, SpectralSum
from benchfw_spectral.oracles import Estimate
from benchfw_spectral.peers import check_function, import_peer, stored_matrix
from benchfw_spectral.probes import Kind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class PeerMatfree:
    """Lanczos quadrature by matfree, compiled by JAX for all probes at once: log, sqrt and exp.

    It multiplies by itself; probes x steps products are counted. JAX takes the threads that it likes.
    """

    probes: Count = 10
    """Random vectors a draw, M."""
    steps: Count = 20
    """Lanczos steps a probe."""
    reorthogonalize: bool = False
    """Whether the whole basis is kept orthogonal."""
    probe: Kind = "rademacher"
    """Law of their entries."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: Any, rng: Rng) -> ValueDraw:
        """Draw the probes; return what matfree makes of them."""
        import_peer("matfree.funm", "matfree")
        check_function(problem, "peer-matfree", ("log", "sqrt", "exp"))
        matrix = _on_jax(problem)
        probes = draw_probes(problem, rng, self.probes, self.probe)
        return ValueDraw(problem, partial(self._trace, matrix, probes))

    def _trace(self, stored: Any, probes: Array, problem: Any) -> Estimate:
        import jax

        problem.charge(self.probes * self.steps)
        with jax.enable_x64(True):
            forms = _forms(problem.function.name, self.steps, self.reorthogonalize)
            return mean_of(np.asarray(forms(stored, probes.T)))


@cache
def _forms(function: str, steps: int, reorthogonalize: bool) -> Any:
    """Return the compiled v'f(A)v for the rows v of a block; compiled once a process."""
    import jax
    from matfree import decomp, funm

    tridiagonal = decomp.tridiag_sym(steps, reortho="full" if reorthogonalize else "none")
    form = funm.monte_carlo_funm_sym(funm.dense_funm_sym_eigh(getattr(jax.numpy, function)), tridiagonal)
    return jax.jit(lambda matrix, rows: jax.vmap(lambda row: form(lambda v: matrix @ v, row))(rows))


_converted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def _on_jax(problem: Any) -> Any:
    """Return a problem's matrix as JAX has it, converted once."""
    if problem not in _converted:
        import jax
        from jax.experimental.sparse import BCOO

        stored = stored_matrix(problem, "peer-matfree")
        sparse = hasattr(stored, "tocsr")
        with jax.enable_x64(True):
            _converted[problem] = BCOO.from_scipy_sparse(stored) if sparse else jax.numpy.asarray(stored)
    return _converted[problem]
