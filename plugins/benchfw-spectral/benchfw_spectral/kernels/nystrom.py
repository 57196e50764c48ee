"""The Nyström approximation of a matrix from random products, and the preconditioner that it makes."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

from benchfw.errors import BenchfwError
from benchfw.kernels import as_operator, column_dots, kernel, namespace


def _counts(probes: Any, matrix: Any, shift: float = 0.0) -> tuple[float, float]:
    del shift
    (size, rank), operator = probes.shape, as_operator(matrix, size=probes.shape[0])
    flops = rank * operator.work + 4.0 * size * rank**2
    return float(flops), float((operator.work / 2 + 3 * probes.size) * probes.dtype.itemsize)


@kernel("nystrom-factor", counts=_counts)
def nystrom_factor(probes: Any, matrix: Any, shift: float = 0.0) -> Any:
    """Return B, (size, k), with B B' = Y (Ω'Y)⁻¹ Y' ≈ A - shift I, where Y = (A - shift I) Ω.

    The probes Ω are (size, k), and A - shift I has to be positive semidefinite; where its rank is at most k,
    B B' is all of it up to rounding.
    Frangella, Tropp & Udell 2023, algorithm 2.1.
    """
    xp = namespace(probes)
    images = as_operator(matrix, size=probes.shape[0]).matmat(probes) - shift * probes
    if not images.shape[1]:
        return images
    # the core may be singular: a diagonal of the size of its rounding is added to A
    rounding = float(xp.finfo(probes.dtype).eps) * probes.shape[0] ** 0.5
    longest = xp.max(xp.sqrt(column_dots(images, images) / xp.maximum(column_dots(probes, probes), 1.0)))
    images = images + rounding * longest * probes
    core = xp.matrix_transpose(probes) @ images
    factor = xp.linalg.cholesky((core + xp.matrix_transpose(core)) / 2)
    return xp.matrix_transpose(xp.linalg.solve(factor, xp.matrix_transpose(images)))


def nystrom_preconditioner(factor: Any, shift: float) -> Callable[[Any], Any]:
    """Return the map of a block R to (B B' + shift I)⁻¹ R, for B (size, k) and a positive shift.

    By Woodbury's identity, with one product with B and one with B' a call.
    """
    if not shift > 0:
        raise BenchfwError(f"the shift of a Nyström preconditioner must be positive, not {shift}")
    xp = namespace(factor)
    transposed = xp.matrix_transpose(factor)
    inner = transposed @ factor + shift * xp.eye(factor.shape[1], dtype=factor.dtype)
    inverse = xp.linalg.inv(inner)

    def apply(block: Any) -> Any:
        return (block - factor @ (inverse @ (transposed @ block))) / shift

    return apply


def sample_nystrom_factor(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return at most 8 probes, and a matrix that is a multiple of I but in one direction."""
    side = isqrt(size)
    direction = rng.standard_normal((side, 1))
    probes = rng.standard_normal((side, min(8, -(-side // 4))))  # a square block may be nearly singular
    return probes, 2.0 * backend.xp.eye(side) + direction @ direction.T / max(side, 1), 1.0
