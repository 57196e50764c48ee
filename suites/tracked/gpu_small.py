"""Small recurrences and whole steps on a GPU: against the host, bare products, peers, and idle time.

`python suites/tracked/gpu_small.py [CASE …]` prints a table a case. "recurrences" times Chebyshev forms,
Lanczos steps and conjugate gradients by the wall clock, on all threads that the host's BLAS takes and on the
GPU, results waited for, beside the products alone as a CUDA graph. "peers" times the same forms and Lanczos
steps as PyTorch and JAX make them. "interpolated" times recurrences with covariances W T W' of sparse W and
Toeplitz T, one launch up to 2,112 rows. "steps" counts what happens between two answers of a method. All need
CuPy, and PyTorch for its graphs and its profiler; "peers" needs JAX for GPUs, too. `--to
suites/tracked/measured` stores what docs/performance.md shows.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import numpy as np
from _measured import Table, Value
from _timing import run_cases
from steps import measure_steps
from threadpoolctl import threadpool_limits

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry
from benchfw_spectral.kernels.chebyshev import chebyshev_forms
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients
from benchfw_spectral.kernels.lanczos import lanczos
from benchfw_spectral.problems.ski import Interpolation

SIZES = 256, 512, 1_024, 1_500, 2_048
INTERPOLATED = 500, 1_000, 2_000, 4_000
PROBES, DEGREE, STEPS, CONDITION = 32, 50, 30, 20.0
TOLERANCE = 1e-9  # which takes conjugate gradients about 50 iterations at that condition
COMPLETION = {"use": "chebyshev", "probes": 50, "distribution": {"use": "optimal", "mean": 15}}
MNIST = "kernel-classification", {"dataset": "mnist"}
BLOCKS = {"batch": 4_096, "block": 512, "step": 15.0}
METHODS = {  # problem, method, and the answers before those that are looked at
    "SGD, matrix completion": (
        ("matrix-completion", {"dataset": "movielens-1m"}),
        ("sgd", {"step": 1, "estimator": COMPLETION}),
        20,
    ),
    "DSG, 50 blocks": (MNIST, ("dsg", BLOCKS), 50),
    "DSG, 100 blocks": (MNIST, ("dsg", BLOCKS), 100),
    "DSG, 300 blocks": (MNIST, ("dsg", BLOCKS), 300),
    "CDSG": (MNIST, ("cdsg", BLOCKS), 50),
    "PG-SVI": (("gp-classification", {"dataset": "usps-like"}), ("pg-svi", {}), 5),
}
ANSWERS = 30  # that are looked at
REST = 0.2  # seconds after which the threads of the host's BLAS no longer wait for work in a loop


def wall_seconds(call: Callable[[], Any], rounds: int) -> float:
    """Return the median seconds until the result of a call is there, after two calls that are not counted."""
    device = get_backend("cupy")
    sleep(REST)
    times = []
    for _ in range(rounds + 2):
        device.synchronize()
        began = perf_counter()
        call()
        device.synchronize()
        times.append(perf_counter() - began)
    return statistics.median(times[2:])


def graph_seconds(size: int, rounds: int) -> float:
    """Return the median seconds until DEGREE / 2 bare products are there that are launched as one graph."""
    import torch

    kind = {"device": "cuda", "dtype": torch.float64}
    matrix, block, image = (torch.randn(size, width, **kind) for width in (size, PROBES, PROBES))
    torch.matmul(matrix, block, out=image)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(DEGREE // 2):
            torch.matmul(matrix, block, out=image)
            block, image = image, block
    return wall_seconds(graph.replay, rounds)


def example(size: int) -> tuple[Any, Any, tuple[float, float]]:
    """Return a matrix of condition 20, a block, and an interval that holds the spectrum."""
    rng = np.random.default_rng(size)
    basis, _ = np.linalg.qr(rng.standard_normal((size, size)))
    matrix = (basis * np.linspace(1.0, CONDITION, size)) @ basis.T
    return matrix, rng.standard_normal((size, PROBES)), (0.9, 1.01 * CONDITION)


def recurrences(rounds: int) -> Table:
    """Print and return microseconds of recurrences with dense matrices of condition 20."""
    device = get_backend("cupy")
    title = f"{PROBES} columns, float64: µs on the host, on the GPU, {DEGREE // 2} products as a graph"
    print(title)
    rows: list[tuple[Value, ...]] = []
    for size in SIZES:
        matrix, block, interval = example(size)
        host, there = (matrix, block), (device.asarray(matrix), device.asarray(block))
        calls: dict[str, Callable[[Any, Any], Any]] = {
            f"Chebyshev forms to degree {DEGREE}": lambda a, v, ends=interval: chebyshev_forms(
                v, a, DEGREE, ends
            ),
            f"Lanczos, {STEPS} steps": lambda a, v: lanczos(v, a, STEPS),
            "conjugate gradients": lambda a, v: conjugate_gradients(v, a, TOLERANCE),
        }
        graph = graph_seconds(size, rounds)
        for name, call in calls.items():
            fast, slow = (
                wall_seconds(lambda: call(*arrays), rounds)  # noqa: B023 - called at once
                for arrays in (there, host)
            )
            ratio = f"{fast / graph:5.2f} of the graph" if name.startswith("Chebyshev") else ""
            times = "".join(f"{1e6 * each:9,.0f}" for each in (slow, fast, graph))
            print(f"  n = {size:5,}  {name:<32}{times}  {slow / fast:6.1f} times faster  {ratio}", flush=True)
            beside = (1e6 * graph, fast / graph) if ratio else (None, None)
            rows.append((f"{size:,}", name, 1e6 * slow, 1e6 * fast, slow / fast, *beside))
    return Table(
        title, ("rows", "what", "host", "GPU", "times faster", "graph", "GPU against the graph"), rows
    )


def forms_of(xp: Any, double: Any, block: Any) -> Any:
    """Return the Chebyshev forms to DEGREE, for a matrix `double` = 2At, by PyTorch or JAX."""
    squares, before, now = (block * block).sum(0), block, double @ block / 2
    lengths, dots = [(now * now).sum(0)], [(now * before).sum(0)]
    for _ in range(3, DEGREE + 1, 2):
        before, now = now, double @ now - before
        lengths.append((now * now).sum(0))
        dots.append((now * before).sum(0))
    odd, even = 2 * xp.stack(dots) - dots[0], 2 * xp.stack(lengths) - squares
    return xp.stack([odd, even])


def tridiagonals_of(xp: Any, matrix: Any, block: Any) -> Any:
    """Return alpha and beta of STEPS Lanczos steps, by PyTorch or JAX."""
    beta = xp.sqrt((block * block).sum(0))
    before, now, alphas, betas = 0 * block, block / beta, [], []
    beta = 0 * beta
    for _ in range(STEPS):
        residual = matrix @ now - beta * before
        alphas.append((now * residual).sum(0))
        residual = residual - alphas[-1] * now
        beta = xp.sqrt((residual * residual).sum(0))
        betas.append(beta)
        before, now = now, residual / beta
    return xp.stack([xp.stack(alphas), xp.stack(betas)])


def peers(rounds: int) -> Table:
    """Print and return microseconds of recurrences by this project, PyTorch and JAX, all on the GPU."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import torch

    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise BenchfwError("JAX finds no GPU; install it with CUDA, as jax[cuda13]")
    device = get_backend("cupy")
    title = f"{PROBES} columns, float64, on the GPU: µs of each, and the largest difference from ours"
    print(title)
    rows: list[tuple[Value, ...]] = []
    for size in SIZES:
        matrix, block, (low, high) = example(size)
        double = (4 * matrix - 2 * (high + low) * np.eye(size)) / (high - low)
        a, v = device.asarray(matrix), device.asarray(block)
        ours: dict[str, tuple[Any, Callable[[], Any], Any]] = {
            f"Chebyshev forms to degree {DEGREE}": (
                forms_of,
                lambda: chebyshev_forms(v, a, DEGREE, (low, high)),  # noqa: B023 - called at once
                double,
            ),
            f"Lanczos, {STEPS} steps": (tridiagonals_of, lambda: lanczos(v, a, STEPS), matrix),  # noqa: B023
        }
        for name, (recurrence, call, host_matrix) in ours.items():
            theirs = torch_calls(torch, recurrence, host_matrix, block)
            theirs["JAX, compiled"] = jax_call(jax, recurrence, host_matrix, block)
            seconds = [wall_seconds(each, rounds) for each in (call, *theirs.values())]
            expected = flat(call())
            apart = max(float(np.max(np.abs(flat(each()) - expected))) for each in theirs.values())
            error = apart / float(np.max(np.abs(expected)))
            shown = "".join(f"{1e6 * each:9,.0f}" for each in seconds)
            print(f"  n = {size:5,}  {name:<32}{shown}  {min(seconds[1:]) / seconds[0]:6.1f}  {error:.0e}")
            times = [1e6 * each for each in seconds]
            rows.append((f"{size:,}", name, *times, min(times[1:]) / times[0], error))
    names = "PyTorch", "PyTorch, a graph", "JAX, compiled"
    ends = "times faster than the best of them", "difference"
    return Table(title, ("rows", "what", "ours", *names, *ends), rows)


def torch_calls(torch: Any, recurrence: Any, matrix: Any, block: Any) -> dict[str, Callable[[], Any]]:
    """Return calls that make a recurrence by PyTorch, launch by launch and as one graph."""
    a, v = (torch.as_tensor(each, device="cuda") for each in (matrix, block))
    recurrence(torch, a, v)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = recurrence(torch, a, v)

    def replay() -> Any:
        graph.replay()
        return result

    return {"PyTorch": lambda: recurrence(torch, a, v), "PyTorch, a graph": replay}


def jax_call(jax: Any, recurrence: Any, matrix: Any, block: Any) -> Callable[[], Any]:
    """Return a call that makes a recurrence by JAX, compiled."""
    compiled = jax.jit(lambda a, v: recurrence(jax.numpy, a, v))
    a, v = (jax.device_put(each) for each in (matrix, block))
    return lambda: compiled(a, v).block_until_ready()


def flat(found: Any) -> Any:
    """Return the numbers that a recurrence found, of any library, in one order, on the host.

    Those of our forms begin with that of degree 0, and have one row for each degree.
    """
    if isinstance(found, tuple):  # alpha, beta
        return np.stack([each.get() for each in found]).ravel()
    if hasattr(found, "cpu"):
        return found.cpu().numpy().ravel()
    if hasattr(found, "get"):
        forms = found.get()[1:]
        return np.stack([forms[::2], forms[1::2]]).ravel()
    return np.asarray(found).ravel()


def interpolated(rounds: int) -> Table:
    """Print and return microseconds of recurrences with W T W' + I on a grid of as many nodes as rows."""
    title = f"{PROBES} columns, float64, W T W' + I: µs on the host, and on the GPU"
    print(title)
    rows: list[tuple[Value, ...]] = []
    for size in INTERPOLATED:
        inputs = np.linspace(0.0, 1.0, size)[:, None]
        block = np.random.default_rng(size).standard_normal((size, PROBES))
        sides = []
        for name in ("numpy", "cupy"):
            backend = get_backend(name)
            covariance = Interpolation(backend, inputs, inputs[:1], size).covariance(1.0, 10.0 / size)
            ends = 0.99, 1.01 * (1.0 + covariance.top)
            sides.append((covariance, backend.asarray(block), ends))
        calls: dict[str, Callable[[Any, Any, Any], Any]] = {
            f"Chebyshev forms to degree {DEGREE}": lambda a, v, ends: chebyshev_forms(
                v, a.operator(1.0), DEGREE, ends
            ),
            f"Lanczos, {STEPS} steps": lambda a, v, _: lanczos(v, a.operator(1.0), STEPS),
            "conjugate gradients": lambda a, v, _: conjugate_gradients(v, a.operator(1.0), TOLERANCE),
        }
        for name, call in calls.items():
            fast, slow = (wall_seconds(lambda: call(*side), rounds) for side in reversed(sides))  # noqa: B023
            times = "".join(f"{1e6 * each:9,.0f}" for each in (slow, fast))
            print(f"  n = {size:5,}  {name:<32}{times}  {slow / fast:6.1f} times faster", flush=True)
            rows.append((f"{size:,}", name, 1e6 * slow, 1e6 * fast, slow / fast))
    return Table(title, ("rows", "what", "host", "GPU", "times faster"), rows)


def steps(rounds: int) -> Table:
    """Print and return what a GPU does between two answers of a method."""
    del rounds
    title = f"Between two answers, the mean of {ANSWERS}: launches, copies to and from the host, µs"
    print(title)
    rows: list[tuple[Value, ...]] = []
    registry = Registry()
    for name, (problem, method, before) in METHODS.items():
        specs = [Spec(use, parameters) for use, parameters in (problem, method)]
        trial = Trial("optimizer", *specs, "cupy", 1, 0, Budget(iterations=1))
        with threadpool_limits(1):  # as in a trial
            found = measure_steps(trial, registry, before, ANSWERS)
        print(
            f"  {name:<26}{found.launches:6.0f} launches {found.copies:5.1f} copies "
            f"{1e6 * found.device_seconds:9,.0f} of {1e6 * found.seconds:9,.0f} µs in kernels: "
            f"{found.device_seconds / found.seconds:.0%}",
            flush=True,
        )
        times = 1e6 * found.device_seconds, 1e6 * found.seconds, 100 * found.device_seconds / found.seconds
        rows.append((name, found.launches, found.copies, *times))
    return Table(
        title, ("method", "launches", "copies", "GPU at work, µs", "between answers, µs", "share, %"), rows
    )


CASES = {  # steps first, before the host's BLAS has threads that a trial would not have
    "steps": steps,
    "recurrences": recurrences,
    "interpolated": interpolated,
    "peers": peers,
}


if __name__ == "__main__":
    run_cases(CASES, __doc__, rounds=11)
