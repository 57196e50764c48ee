"""Expectations under Gaussians: of the logistic loss and its derivatives, to full precision, and by rules.

With t = e^-|z| the logistic functions are alternating series in t, such as t/(1+t) = t - t² + …, and t^k has
an expectation in closed form. Weights that fall from 1 to 0 make 22 terms of such a series enough, with a
small *relative* error at every t in [0, 1] (Cohen, Rodriguez Villegas & Zagier 2000), and so in the mean over
any Gaussian: wide or narrow, near or far, without nodes.
"""

from __future__ import annotations

from functools import cache
from math import comb, pi, sqrt
from typing import Any

import numpy as np

from benchfw.kernels import kernel, namespace, over_pieces

TERMS = 22  # a relative error of about (3 + √8)^-22 = 1e-17; a hundred times that in the curvature
AT_ONCE = 1 << 11  # examples; what a pass sets aside stays in the cache
TINY = 1e-19  # too small to change an expectation, and large enough to divide by
ROOT_HALF = sqrt(0.5)


def _erfc_counts(x: Any) -> tuple[float, float]:
    return 70.0 * x.size, 2.0 * x.nbytes


@kernel("scaled-erfc", counts=_erfc_counts)
def scaled_erfc(x: Any) -> Any:
    """Return e^(x²) erfc(x), elementwise, for x >= 0.

    Its integral (2x/π) ∫ e^(-t²) / (x² + t²) dt over t > 0 by the midpoint rule of step 1/2, and the
    residue of the pole at ix where the rule's error reaches that far. Matta & Reichel 1971.
    """
    xp = namespace(x)
    step, square = 0.5, x * x
    total = 0.0 * x
    for t in (np.arange(13) + 0.5) * step:
        total = total + float(np.exp(-t * t)) / (square + float(t * t))
    reach = pi / step
    near = xp.clip(x, 0.0, reach)
    residue = 2.0 * xp.exp(near * near) / (1.0 + xp.exp(2 * reach * near))
    return (2 * step / pi) * x * total + xp.where(x < reach, residue, 0.0 * x)


@scaled_erfc.on("numpy")
def _scaled_erfc_numpy(x: Any) -> Any:
    from scipy.special import erfcx

    if x.ndim == 0 or x.dtype.char not in "fd":
        return erfcx(x)
    found, entries = np.empty_like(x), max(x[:1].size, 1)

    def write(rows: slice) -> None:
        erfcx(x[rows], out=found[rows])

    over_pieces(write, x.shape[0], max(1, AT_ONCE // entries), entries, nanoseconds=20.0)
    return found


@scaled_erfc.on("cupy")
def _scaled_erfc_cupy(x: Any) -> Any:
    from cupyx.scipy.special import erfcx

    return erfcx(x)


def _counts(mean: Any, variance: Any) -> tuple[float, float]:
    return 150.0 * TERMS * mean.size, float(4 * mean.nbytes + variance.nbytes)


@kernel("logistic-expectations", counts=_counts)
def logistic_expectations(mean: Any, variance: Any) -> tuple[Any, Any, Any]:
    """Return E[-log σ(z)], -E σ(-z) and E σ(z)σ(-z), (B,) each, for z ~ N(mean, variance).

    These are loss, its first and its second derivative in the mean; the last is also twice the derivative in
    the variance. All three keep their relative precision where they are tiny.
    """
    xp = namespace(mean, variance)
    exponent, loss, below, curvature = _tails(mean, variance)
    scale = xp.exp(exponent)
    below = scale * below
    return (
        scale * loss + (xp.abs(mean) - mean) / 2,
        xp.where(mean < 0, below - 1.0, -below),
        scale * curvature,
    )


@logistic_expectations.on("cupy")
def _logistic_expectations_cupy(mean: Any, variance: Any) -> tuple[Any, Any, Any]:
    results = """
        const T scale = exp(exponent);
        loss = scale * total + max(-mean, (T)0);
        slope = mean < 0 ? scale * below - 1 : -scale * below;
        curvature = scale * bend;
        """
    fused = _fused("T loss, T slope, T curvature", results, "benchfw_logistic_expectations")
    loss, slope, curvature = fused(mean, variance)
    return loss, slope, curvature


@kernel("logistic-log-mean", counts=_counts)
def logistic_log_mean(mean: Any, variance: Any) -> Any:
    """Return log E σ(z), (B,), for z ~ N(mean, variance): finite however small the mean of σ may be."""
    xp = namespace(mean, variance)
    exponent, _, below, _ = _tails(mean, variance)
    return xp.where(mean < 0, exponent + xp.log(below), xp.log1p(-xp.exp(exponent) * below))


@logistic_log_mean.on("cupy")
def _logistic_log_mean_cupy(mean: Any, variance: Any) -> Any:
    result = "found = mean < 0 ? exponent + log(below) : log1p(-exp(exponent) * below);"
    return _fused("T found", result, "benchfw_logistic_log_mean")(mean, variance)


def _tails(mean: Any, variance: Any) -> tuple[Any, ...]:
    """Return an exponent, and over its e^: E[-log σ(z)], E σ(-z), E σ(z)σ(-z) for z ~ N(|mean|, variance)."""
    xp = namespace(mean, variance)
    on_host = isinstance(mean, np.ndarray)
    size, mean, variance = mean.shape[0], xp.abs(mean)[:, None], variance[:, None] + TINY
    if size <= AT_ONCE:
        return _sums(xp, mean, variance)
    parts: list[Any] = [()] * -(-size // AT_ONCE)

    def find(share: slice) -> None:
        for start in range(share.start, share.stop, AT_ONCE):
            stop = min(start + AT_ONCE, size)
            parts[start // AT_ONCE] = _sums(xp, mean[start:stop, :], variance[start:stop, :])

    if on_host:
        over_pieces(find, size, AT_ONCE, nanoseconds=1000.0)
    else:
        find(slice(0, size))
    return tuple(xp.concat(part) for part in zip(*parts, strict=True))


def _sums(xp: Any, mean: Any, variance: Any) -> tuple[Any, ...]:
    """Return the `_tails` of some examples, (b,) each, for means (b, 1) that are not negative.

    E[t^k; z < 0] = φ(a) m(ks + a) and E[t^k; z > 0] = φ(a) m(ks - a), where s² is the variance, a = mean / s
    and m = (1 - Φ) / φ. The latter is e^(k²s²/2 - k mean) - φ(a) m(a - ks) where ks < a.
    """
    k = xp.arange(1, TERMS + 1, dtype=mean.dtype)
    weights = xp.asarray(_alternating(TERMS), dtype=mean.dtype)
    deviation = xp.sqrt(variance)
    ratio = mean / deviation
    # the largest term is e^(s²/2 - mean) or φ(a)
    excess = ratio - deviation
    exponent = xp.where(excess > 0, variance / 2 - mean, -ratio * ratio / 2)
    half = xp.exp(xp.where(excess > 0, -excess * excess / 2, 0.0 * excess)) / 2
    gap = k * deviation - ratio
    left = half * scaled_erfc(ROOT_HALF * (k * deviation + ratio))
    right = half * scaled_erfc(ROOT_HALF * xp.abs(gap))
    whole = xp.exp(-xp.abs((k - 1) * ((k + 1) * (variance / 2) - mean)))  # not positive where it counts
    right = xp.where(gap < 0, whole - right, right)
    both = right + left
    negative = half * scaled_erfc(ROOT_HALF * ratio)  # P(z < 0)
    hinge = half * deviation * sqrt(2 / pi) - mean * negative  # E max(-z, 0)
    return (
        exponent[:, 0],
        both @ (weights / k) + hinge[:, 0],
        (right - left) @ weights + negative[:, 0],
        both @ (weights * k),
    )


@cache
def _alternating(count: int) -> tuple[float, ...]:
    """Return the weights of t, t², …, t^count: the quotient of 1 - T(1 - 2t)/T(3) by 1 + t, T Chebyshev's."""
    sums = [1]
    for j in range(1, count + 1):
        sums.append(sums[-1] + count * comb(count + j, 2 * j) * 4**j // (count + j))
    return tuple((-1) ** j * (sums[-1] - sums[j]) / sums[-1] for j in range(count))


@cache
def _fused(outputs: str, results: str, name: str) -> Any:
    """Return a kernel that writes the results, from the exponent, total, below and bend of `_tails`."""
    import cupy

    return cupy.ElementwiseKernel(
        "T mean, T variance",
        outputs,
        f"""
        const T weights[] = {{{", ".join(map(repr, _alternating(TERMS)))}}};
        const T size = abs(mean), square = variance + (T){TINY!r}, deviation = sqrt(square);
        const T ratio = size / deviation, excess = ratio - deviation;
        const T exponent = excess > 0 ? square / 2 - size : -ratio * ratio / 2;
        const T half = (excess > 0 ? exp(-excess * excess / 2) : (T)1) / 2, root_half = {ROOT_HALF!r};
        T below = half * erfcx(root_half * ratio);
        T total = half * deviation * (T){sqrt(2 / pi)!r} - size * below;
        T bend = 0;
        for (int k = 1; k <= {TERMS}; ++k) {{
            const T gap = k * deviation - ratio;
            const T left = half * erfcx(root_half * (k * deviation + ratio));
            T right = half * erfcx(root_half * abs(gap));
            if (gap < 0) right = exp((k - 1) * ((k + 1) * (square / 2) - size)) - right;
            total += weights[k - 1] / k * (right + left);
            below += weights[k - 1] * (right - left);
            bend += weights[k - 1] * k * (right + left);
        }}
        {results}
        """,
        name,
    )


@cache
def gauss_hermite(count: int) -> tuple[Any, Any]:
    """Return nodes and weights of N(0, 1), (count,) each, exact for polynomials of degree below 2 count."""
    from scipy.special import roots_hermitenorm

    nodes, weights = roots_hermitenorm(count)
    return nodes, weights / weights.sum()


def sample_scaled_erfc(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return numbers that are not negative."""
    return (backend.xp.abs(3.0 * rng.standard_normal(size)),)


def sample_logistic_expectations(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return means of either sign, and variances."""
    del backend
    return 3.0 * rng.standard_normal(size), 10.0 * rng.random(size)


sample_logistic_log_mean = sample_logistic_expectations
