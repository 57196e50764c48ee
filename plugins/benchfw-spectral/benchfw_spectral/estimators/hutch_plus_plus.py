"""Hutch++: the trace of a sketch of f(A), plus Hutchinson for what is left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Range, Rng, SpectralSum
from benchfw.kernels import Operator, column_dots, namespace, shifted
from benchfw_spectral.functions.function import Interval, Vector
from benchfw_spectral.kernels.chebyshev import chebyshev_forms
from benchfw_spectral.oracles import Estimate, operator_of
from benchfw_spectral.probes import Kind, ValueDraw, draw_probes, mean_of


@dataclass(frozen=True)
class HutchPlusPlus:
    """tr Q'f(A)Q + the mean of g'(I-QQ')f(A)(I-QQ')g, with Q a basis of f(A)S (Meyer et al. 2021).

    The cut series is the only bias; a draw costs (n + n/2 + n/2) probes/3 products. Given Q the first part is
    a number and the second is unbiased, so the spread over g is the standard error of the whole.
    """

    probes: Annotated[int, Range(least=3)] = 30
    """Columns that meet f(A), a third each in S, Q and g."""
    degree: Annotated[int, Range(least=0)] = 30
    """Of the Chebyshev series that f is cut to, n."""
    probe: Kind = "rademacher"
    """Law of their entries."""

    solves: ClassVar[type] = SpectralSum
    estimates: ClassVar[Literal["value"]] = "value"
    claims: ClassVar[Claims] = Claims(unbiased=False)

    def draw(self, problem: SpectralSum, rng: Rng) -> ValueDraw:
        """Draw the sketch and the probes; return the estimate that they give."""
        third = self.probes // 3
        sketch = draw_probes(problem, rng, third, self.probe)
        probes = draw_probes(problem, rng, third, self.probe)
        return ValueDraw(problem, partial(self._trace, sketch, probes))

    def _trace(self, sketch: Array, probes: Array, matrix: Any) -> Estimate:
        operator, interval = operator_of(matrix), matrix.interval
        series = matrix.function.coefficients(interval, self.degree)
        xp = namespace(sketch)
        basis, _ = xp.linalg.qr(apply_series(sketch, operator, series, interval))
        rest = probes - basis @ (basis.T @ probes)
        blocks = xp.concat([basis, rest], axis=1)  # one pass over A serves both
        forms = xp.asarray(series) @ chebyshev_forms(blocks, operator, self.degree, interval)
        caught = float(forms[: basis.shape[1]].sum())
        left = mean_of(forms[basis.shape[1] :])
        return Estimate(caught + left.value, left.std_error)


def apply_series(block: Array, matrix: Operator, coefficients: Vector, interval: Interval) -> Array:
    """Return Σ_j c_j T_j(At) block, (size, k), with At = (2A - (b+a)I)/(b-a); one product a degree.

    The recurrence of Clenshaw 1955, on blocks: y_j = c_j v + 2At y_{j+1} - y_{j+2}, down to
    y_0 = c_0 v + At y_1 - y_2. An interval that does not hold the spectrum is refused where it shows: each
    column is at most Σ |c_j| times as long as it was.
    """
    low, high = interval
    double = shifted(matrix, 4 / (high - low), -2 * (high + low) / (high - low))
    *others, top = (float(each) for each in coefficients)
    before, last = 0 * block, top * block
    for degree in reversed(range(len(others))):
        out = others[degree] * block - before
        before, last = last, double.update(last, out, 1.0 if degree > 0 else 0.5, 1.0)
    limit = (1.01 * float(abs(coefficients).sum())) ** 2 * column_dots(block, block)
    if not bool((column_dots(last, last) <= limit).all()):  # NaN does not pass
        raise BenchfwError(f"the spectrum is not inside [{low:g}, {high:g}]: widen the interval")
    return last
