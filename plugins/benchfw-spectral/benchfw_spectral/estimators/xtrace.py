"""XTrace: every probe serves both for the sketch of f(A) and for what the sketch of the others leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Range, Rng, SpectralSum
from benchfw.kernels import namespace
from benchfw_spectral.estimators.hutch_plus_plus import apply_series
from benchfw_spectral.oracles import Estimate, operator_of
from benchfw_spectral.probes import Kind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class XTrace:
    """The mean over probes of Hutch++ with the other probes as its sketch (Epperly, Tropp & Webber 2024).

    Gaussian probes are scaled, after the sketch is taken from them, to the length that they have on average:
    the direction that is left is uniform, and only its length was noise. The cut series is the only bias; a
    draw costs 2n products a probe. The standard error is the spread of the single estimates, which share
    their sketches: an indication, not a law.
    """

    probes: Annotated[int, Range(least=2)] = 15
    """Random vectors a draw, at most one a row of the matrix."""
    degree: Annotated[int, Range(least=0)] = 30
    """Of the Chebyshev series that f is cut to, n."""
    probe: Kind = "rademacher"
    """Law of their entries."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: SpectralSum, rng: Rng) -> ValueDraw:
        """Draw the probes; return the estimate that they give."""
        probes = draw_probes(problem, rng, self.probes, self.probe)
        if self.probes > probes.shape[0]:
            raise BenchfwError(f"xtrace takes at most {probes.shape[0]} probes here, one a row of the matrix")
        return ValueDraw(problem, partial(self._trace, probes))

    def _trace(self, probes: Array, matrix: Any) -> Estimate:
        series = matrix.function.coefficients(matrix.interval, self.degree)
        apply = partial(
            apply_series, matrix=operator_of(matrix), coefficients=series, interval=matrix.interval
        )
        xp = namespace(probes)
        basis, images = xp.linalg.qr(apply(probes))  # f(A)Ω = QR
        core = basis.T @ apply(basis)  # Q'f(A)Q
        inside = basis.T @ probes
        # the sketch without probe i is Q(I - s s')Q', with s normal to all columns of R but the i-th
        normals = _normals(xp, images)
        kept = inside - _dots(normals, inside) * normals
        left = _dots(inside, images) - 2 * _dots(kept, images) + _dots(kept, core @ kept)
        if self.probe == "gaussian":
            dimensions = probes.shape[0] - self.probes + 1
            left = left * dimensions / (_dots(probes, probes) - _dots(kept, kept))
        return mean_of(xp.linalg.trace(core) - _dots(normals, core @ normals) + left)


def _normals(xp: Any, images: Array) -> Array:
    """Return unit columns s_i with s_i'r_j = 0 for j ≠ i: those of R⁻ᵀ, also where R is singular."""
    left, sizes, right = xp.linalg.svd(images)
    floor = max(xp.finfo(sizes.dtype).eps * float(sizes[0]), xp.finfo(sizes.dtype).tiny)
    columns = (left * (floor / xp.maximum(sizes, floor))) @ right  # of any length, so far
    return columns / xp.sqrt(_dots(columns, columns))


def _dots(left: Array, right: Array) -> Array:
    return (left * right).sum(axis=0)
