"""What the kernels reach on a GPU: against the bare products that they need, and against GPyTorch.

`python suites/tracked/gpu_limits.py [CASE …]` prints a table a case, every call of it timed by device
events after a warm-up. It needs CuPy, and for "log-determinant" PyTorch and GPyTorch beside it. `--to
suites/tracked/measured` stores what docs/performance.md shows.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from _measured import Table
from _timing import run_cases

from benchfw.backends import get_backend
from benchfw.kernels import (
    as_operator,
    cholesky_solve,
    gaussian_gram,
    gaussian_gram_length_derivative,
)
from benchfw_kernelmachines.kernels.halves import halves_of_columns, halves_of_rows, multiply_halves
from benchfw_kernelmachines.kernels.random_features import feature_scores
from benchfw_spectral.kernels.chebyshev import chebyshev_forms, chebyshev_pairs
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients
from benchfw_spectral.kernels.lanczos import gauss_quadrature, lanczos
from benchfw_spectral.kernels.nystrom import nystrom_factor, nystrom_preconditioner

Calls = Mapping[str, Callable[[], Any]]


def seconds_of(calls: Calls, rounds: int) -> dict[str, float]:
    """Return the median seconds of each call, by device events, after one that is not counted."""
    import cupy

    seconds = {}
    release()  # what the case before had
    for name, call in calls.items():
        times = []
        for _ in range(rounds + 1):
            begin, end = cupy.cuda.Event(), cupy.cuda.Event()
            cupy.cuda.Device().synchronize()
            begin.record()
            call()
            end.record()
            end.synchronize()
            times.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
        seconds[name] = statistics.median(times[1:])
        release()
    return seconds


def release() -> None:
    """Give the memory that pools hold back to the device, so that the next library finds some."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


def show(title: str, calls: Calls, floor: str, rounds: int) -> Table:
    """Print and return the milliseconds of each call, and their ratio to those of the floor."""
    print(title, flush=True)
    seconds = seconds_of(calls, rounds)
    for name, time in seconds.items():
        print(f"  {name:<28} {1e3 * time:10.2f} ms   {time / seconds[floor]:6.2f} times {floor}", flush=True)
    rows = [(name, 1e3 * time, time / seconds[floor]) for name, time in seconds.items()]
    return Table(title, ("what", "ms", f"times {floor}"), rows)


def show_with_errors(
    title: str, calls: Calls, values: Mapping[str, list[float]], exact: Callable[[], float], rounds: int
) -> Table:
    """Print and return the time and the error of each call, and ratios to the first at no larger error.

    `values` has what the calls found, by name; a call without any is exact.
    """
    print(title, flush=True)
    seconds, truth = seconds_of(calls, rounds), exact()
    errors = {
        name: float(np.sqrt(np.mean((np.array(values[name]) / truth - 1) ** 2))) if name in values else 0.0
        for name in calls
    }
    first = next(iter(calls))
    rows = []
    for name, time in seconds.items():
        better = errors[name] <= errors[first]
        said = f"{time / seconds[first]:6.2f} times {first}" if better else "less exact: not compared"
        print(f"  {name:<28} {1e3 * time:10.2f} ms   error {errors[name]:.1e}   {said}", flush=True)
        ratio = time / seconds[first] if better else "less exact"
        rows.append((name, 1e3 * time, 100 * errors[name], ratio))
    return Table(title, ("what", "ms", "error, %", f"times {first}"), rows)


def times(count: int, product: Callable[[], Any]) -> Callable[[], None]:
    """Return a call that makes the product so often."""

    def repeated() -> None:
        for _ in range(count):
            product()

    return repeated


def dense(rounds: int) -> Table:
    """Chebyshev forms and pairs of a dense matrix."""
    backend = get_backend("cupy")
    size, probes, degree = 20_000, 32, 50
    rng = backend.rng(1)
    matrix = rng.standard_normal((size, size))
    matrix += matrix.T.copy()
    reach = 3.0 * (2.0 * size) ** 0.5
    block = rng.rademacher((size, probes)).copy(order="F")
    weights = 1.0 / (1.0 + backend.xp.arange(degree + 1.0))
    calls = {
        "50 products": times(degree, lambda: matrix @ block),
        "forms": lambda: chebyshev_forms(block, matrix, degree, (-reach, reach)),
        "forms of degree 100": lambda: chebyshev_forms(block, matrix, 2 * degree, (-reach, reach)),
        "pairs": lambda: chebyshev_pairs(block, matrix, weights, (-reach, reach)),
        "pairs in reverse mode": lambda: chebyshev_pairs(block, matrix, weights, (-reach, reach), "reverse"),
    }
    table = show(f"dense: n = {size:,}, {probes} probes, degree {degree}", calls, "50 products", rounds)
    seconds = next(time for name, time, _ in table.rows if name == "50 products") / 1e3
    print(f"  the products run at {50 * matrix.nbytes / seconds / 1e12:.2f} TB/s")
    return table


def sparse(rounds: int) -> Table:
    """Chebyshev forms of a two-dimensional Laplacian."""
    import scipy.sparse

    backend = get_backend("cupy")
    import cupyx.scipy.sparse

    side, probes, degree = 1_000, 32, 50
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (side, side))
    identity = scipy.sparse.identity(side)
    laplacian = scipy.sparse.kron(line, identity) + scipy.sparse.kron(identity, line)
    matrix = cupyx.scipy.sparse.csr_matrix(laplacian.tocsr())
    block = backend.rng(1).rademacher((side * side, probes)).copy(order="F")
    by_rows, operator = block.copy(order="C"), as_operator(matrix)
    calls = {
        "25 products": times(degree // 2, lambda: matrix @ block),
        "25 products by our kernel": times(degree // 2, lambda: operator.matmat(by_rows)),
        "forms": lambda: chebyshev_forms(block, matrix, degree, (0.0, 8.0)),
    }
    return show(
        f"sparse: n = {side * side:,}, {probes} probes, degree {degree}", calls, "25 products", rounds
    )


def features(rounds: int) -> Table:
    """Predictions over regenerated random features."""
    backend = get_backend("cupy")
    xp = backend.xp
    rows, dimension, count, blocks, outputs = 10_000, 100, 4_000, 250, 10
    points = backend.rng(1).standard_normal((rows, dimension), np.float32)
    coefficients = [backend.rng(2).standard_normal((2, count, outputs), np.float32)] * blocks
    stored = backend.rng(3).standard_normal((dimension, count), np.float32)
    projections = xp.empty((rows, count), dtype=np.float32)

    def frequencies(numbers: range) -> Any:
        normals = (
            backend.rng(3).at(7, numbers.start).standard_normals(len(numbers), (dimension, count), np.float32)
        )
        return normals.swapaxes(0, 1).reshape(dimension, -1)

    calls = {
        "bare products": times(blocks, lambda: xp.matmul(points, stored, out=projections)),
        "prediction": lambda: feature_scores(points, frequencies, coefficients, outputs),
        "prediction, plain float32": lambda: feature_scores(
            points, frequencies, coefficients, outputs, tensor_cores=False
        ),
    }
    title = f"features: {rows:,} rows of {dimension}, {blocks * count:,} frequencies, float32"
    return show(title, calls, "bare products", rounds)


def accuracy(rounds: int) -> Table:
    """Phases and predictions in float32, against float64."""
    del rounds
    backend = get_backend("cupy")
    rows, dimension, count, blocks, outputs = 10_000, 100, 4_000, 8, 10
    points = backend.rng(1).standard_normal((rows, dimension), np.float32)
    stored = [
        backend.rng(seed).standard_normal((dimension, count), np.float32) for seed in range(3, 3 + blocks)
    ]
    coefficients = backend.rng(2).standard_normal((blocks, 2, count, outputs), np.float32)

    def scores(dtype: Any, tensor_cores: bool) -> Any:
        """Return predictions from numbers of one precision."""
        made = [block.astype(dtype) for block in coefficients]
        return feature_scores(
            points.astype(dtype),
            lambda numbers: backend.xp.concatenate([stored[each].astype(dtype) for each in numbers], axis=1),
            made,
            outputs,
            tensor_cores=tensor_cores,
        )

    def largest(values: Any) -> float:
        return float(abs(values).max())

    phases = points.astype(np.float64) @ stored[0].astype(np.float64)
    exact = scores(np.float64, False)
    halves = multiply_halves(halves_of_rows(points), halves_of_columns(stored[0]))
    found = [
        ("halves on tensor cores", largest(halves - phases), largest(scores(np.float32, True) - exact)),
        ("plain float32", largest(points @ stored[0] - phases), largest(scores(np.float32, False) - exact)),
    ]
    title = (
        f"Largest errors of phases, up to {largest(phases):.0f}, and of sums over {blocks * count:,} "
        f"frequencies, up to {largest(exact):,.0f}"
    )
    print(title)
    for name, *errors in found:
        print(f"  {name:<28}" + "".join(f"{each:12.1e}" for each in errors))
    return Table(title, ("what", "phases", "sums"), found)


SIZE, PROBES, STEPS, LENGTH, NOISE = 50_000, 16, 10, 0.3, 0.1  # of the Gaussian process
RESIDUAL, RANK = 0.01, 400  # of conjugate gradients: relative, and of their preconditioner
TILE = 5_000  # rows of a derivative that is not stored whole


def noisy_gram(points: Any) -> Any:
    """Return the gram of the points with the noise on its diagonal."""
    matrix = gaussian_gram(points, points, LENGTH)
    matrix.ravel()[:: SIZE + 1] += NOISE
    return matrix


def log_determinant(rounds: int) -> Table:
    """Stochastic Lanczos against GPyTorch."""
    import gpytorch
    import torch
    from linear_operator.operators import AddedDiagLinearOperator, DenseLinearOperator, DiagLinearOperator

    backend = get_backend("cupy")
    xp = backend.xp
    points = backend.rng(1).standard_normal((SIZE, 2))
    matrix = noisy_gram(points)
    gram = torch.as_tensor(gaussian_gram(points, points, LENGTH), device="cuda")
    noises = torch.full((SIZE,), NOISE, dtype=gram.dtype, device="cuda")
    seeds = iter(range(10_000))
    values: dict[str, list[float]] = {"lanczos": [], "gpytorch": []}

    def ours() -> None:
        block = backend.rng(next(seeds)).rademacher((SIZE, PROBES)).copy(order="F")
        nodes, weights = gauss_quadrature(*lanczos(block, matrix, STEPS), NOISE)
        values["lanczos"].append(SIZE * float((weights * xp.log(nodes)).sum(axis=0).mean()))

    def theirs() -> None:
        with gpytorch.settings.num_trace_samples(PROBES), torch.no_grad():
            operator = AddedDiagLinearOperator(DenseLinearOperator(gram), DiagLinearOperator(noises))
            values["gpytorch"].append(float(operator.inv_quad_logdet(logdet=True)[1]))

    def factorize() -> float:
        return 2.0 * float(xp.log(xp.diagonal(xp.linalg.cholesky(matrix))).sum())

    calls = {"gpytorch": theirs, "lanczos": ours, "exact Cholesky": factorize}
    return show_with_errors(f"log det: n = {SIZE:,}, {PROBES} probes", calls, values, factorize, rounds)


def log_determinant_gradient(rounds: int) -> Table:
    """The derivative of the log-determinant in the length, by conjugate gradients, against GPyTorch."""
    import gpytorch
    import torch
    from linear_operator.operators import AddedDiagLinearOperator, DenseLinearOperator, DiagLinearOperator

    backend = get_backend("cupy")
    points = backend.rng(1).standard_normal((SIZE, 2))
    inputs = torch.as_tensor(points, device="cuda")
    seeds = iter(range(10_000))
    values: dict[str, list[float]] = {"conjugate gradients": [], "gpytorch": []}

    def change(left: Any, right: Any) -> float:
        """Return the mean of l'(∂K/∂length)r over the columns, without the matrix in one piece."""
        total = 0.0
        for start in range(0, SIZE, TILE):
            rows = slice(start, start + TILE)
            image = gaussian_gram_length_derivative(points[rows], points, LENGTH) @ right
            total += float((left[rows] * image).sum())
        return total / right.shape[1]

    def ours() -> None:
        rng = backend.rng(next(seeds))
        block, matrix = rng.rademacher((SIZE, PROBES)).copy(order="F"), noisy_gram(points)
        factor = nystrom_factor(rng.standard_normal((SIZE, RANK)), matrix, NOISE)
        images = conjugate_gradients(block, matrix, RESIDUAL, 1_000, nystrom_preconditioner(factor, NOISE))
        values["conjugate gradients"].append(change(images, block))

    def theirs() -> None:
        length = torch.tensor(LENGTH, dtype=inputs.dtype, device="cuda", requires_grad=True)
        scaled = inputs / length
        squares = scaled.square().sum(1)
        gram = torch.exp(scaled @ scaled.T - 0.5 * (squares[:, None] + squares))
        with gpytorch.settings.num_trace_samples(PROBES):
            diagonal = DiagLinearOperator(torch.full((SIZE,), NOISE, dtype=inputs.dtype, device="cuda"))
            operator = AddedDiagLinearOperator(DenseLinearOperator(gram), diagonal)
            operator.inv_quad_logdet(logdet=True)[1].backward()
        values["gpytorch"].append(float(length.grad))

    title = "its derivative in the length, the gram made anew"

    def solve() -> float:
        many = backend.rng(99).rademacher((SIZE, 512))
        return change(cholesky_solve(backend.xp.linalg.cholesky(noisy_gram(points)), many), many)

    return show_with_errors(title, {"gpytorch": theirs, "conjugate gradients": ours}, values, solve, rounds)


CASES = {
    "dense": dense,
    "sparse": sparse,
    "features": features,
    "accuracy": accuracy,
    "log-determinant": log_determinant,
    "gradient": log_determinant_gradient,
}


if __name__ == "__main__":
    run_cases(CASES, __doc__, rounds=7)
