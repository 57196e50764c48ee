"""log det at equal error: our estimators, other libraries, the exact factorization, and the bare products.

`python suites/tracked/spectral_speed.py` first finds how many steps each method needs until the error (root
mean square, relative to the exact value) is at most 1 %, with 30 probes; then it times all of them in turn
within one process, by one thread, in CPU seconds. Every row has its error beside its time. What does not
reach the error with 400 steps is listed and compared with nothing. Peers that are not installed are left out
(`pip install 'benchfw-spectral[peers]'`). `--to suites/tracked/measured` stores what docs/performance.md
shows.

In the dense case the eigenvalues crowd at the lower end of an interval of condition 15,000: a series of
degree 50 is cheap there, and off by a quarter.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from _measured import Table, store_table
from _timing import add_folder_option, medians, with_one_thread

from benchfw.backends import get_backend
from benchfw.errors import Unavailable
from benchfw.kernels import as_operator
from benchfw_spectral import Chebyshev, Deterministic, Lanczos, SpectralSumProblem
from benchfw_spectral.peers.imate import PeerImate
from benchfw_spectral.peers.linear_operator import PeerLinearOperator
from benchfw_spectral.peers.matfree import PeerMatfree
from benchfw_spectral.peers.primate import PeerPrimate

PROBES, STEPS = 30, (5, 10, 25, 50, 100, 200, 400)
FAR = 5.0  # times the error asked for: after one draw that is further off, more steps are tried
CASES = {
    "sparse: 200 x 200 Laplacian + 0.1 I": {"matrix": "laplacian-2d", "size": 40_000, "shift": 0.1},
    "dense: 4,000 Gaussian points + 0.1 I": {"matrix": "rbf", "size": 4_000, "shift": 0.1, "length": 0.3},
}
METHODS: dict[str, Callable[[int], Any]] = {
    "chebyshev": lambda steps: Chebyshev(PROBES, Deterministic(steps)),
    "lanczos": partial(Lanczos, PROBES),
    "imate": partial(PeerImate, PROBES),
    "linear_operator": partial(PeerLinearOperator, PROBES),
    "primate": partial(PeerPrimate, PROBES),
    "matfree": partial(PeerMatfree, PROBES),
}
OURS = {"chebyshev": 0.5, "lanczos": 1.0}
"""The products with the matrix that a step needs."""


class Setting(NamedTuple):
    """A method with so many steps: one draw of it, by seed, and its error."""

    steps: int
    error: float
    draw: Callable[[int], float]


def settle(
    name: str, problem: SpectralSumProblem, exact: float, target: float, rounds: int
) -> Setting | None:
    """Return the fewest steps with which a method's error is small enough; print it where none is."""
    for steps in STEPS:
        method = METHODS[name](steps)

        def draw(seed: int, method: Any = method) -> float:
            return float(method.draw(problem, problem.backend.rng(seed))(None))

        errors: list[float] = []
        for seed in range(1, rounds + 1):
            errors.append(draw(seed) / exact - 1)
            if abs(errors[-1]) > FAR * target:
                break
        error = statistics.fmean(each**2 for each in errors) ** 0.5
        if error <= target:
            return Setting(steps, error, draw)
    print(f"  {name:<24} error {error:.1e} with {steps} steps: not compared")
    return None


def factorize(problem: SpectralSumProblem) -> tuple[str, Callable[[], float]]:
    """Return the exact way to the log-determinant, and its name: by the factors of the matrix."""
    stored = problem.stored
    if isinstance(stored, np.ndarray):
        from scipy.linalg import cholesky

        return (
            "exact Cholesky",
            lambda: 2 * float(np.log(np.diagonal(cholesky(stored, lower=True, check_finite=False))).sum()),
        )
    from scipy.sparse.linalg import splu

    columns = stored.tocsc()
    return "exact sparse LU", lambda: float(np.log(np.abs(splu(columns).U.diagonal())).sum())


def multiply(problem: SpectralSumProblem, count: int) -> Callable[[], None]:
    """Return a call that multiplies the probes so often, in the memory order and the way that are best."""
    probes, operator = problem.backend.rng(1).rademacher((problem.size, PROBES)), as_operator(problem.stored)
    block = probes.copy(order=operator.order)

    def products() -> None:
        for _ in range(count):
            operator.matmat(block)

    return products


def measure(title: str, case: dict[str, Any], target: float, rounds: int) -> Table:
    """Print and return one case: settings that reach the error, then their times, taken in turn."""
    backend = get_backend("numpy")
    problem = SpectralSumProblem(backend, backend.rng(1), function="log", **case)
    exact = problem.value()
    found: dict[str, Setting] = {}
    for name in METHODS:
        try:
            setting = settle(name, problem, exact, target, rounds)
        except Unavailable as reason:
            print(f"  {name:<24} {reason}")
            continue
        if setting is not None:
            found[name] = setting
    direct, solve = factorize(problem)
    calls: dict[str, Callable[[], object]] = {direct: solve}
    calls |= {name: partial(setting.draw, 1) for name, setting in found.items()}
    products = {name: math.ceil(OURS[name] * found[name].steps) for name in OURS if name in found}
    calls |= {f"{count} products": multiply(problem, count) for count in products.values()}
    seconds = medians(calls, rounds)
    errors = {direct: abs(solve() / exact - 1), **{name: each.error for name, each in found.items()}}
    for name, time in seconds.items():
        steps = f", {found[name].steps} steps" if name in found else ""
        error = f"   error {errors[name]:.1e}" if name in errors else ""
        print(f"  {name + steps:<24} {time:8.3f} s{error}")
    for name, count in products.items():
        rivals = [other for other in found if other not in OURS]
        said = [_compare(seconds[name], seconds[other], other) for other in (direct, *rivals)]
        share = seconds[name] / seconds[f"{count} products"]
        print(f"  {name}: {share:.2f} times its {count} products; {', '.join(said)}")
    fastest = min(errors, key=lambda name: seconds[name])
    print(f"  the fastest with an error of at most {100 * target:g} %: {fastest}")
    rows = [
        (
            f"{name}, {found[name].steps} steps" if name in found else name,
            time,
            100 * errors[name] if name in errors else None,
            time / seconds[direct],
        )
        for name, time in seconds.items()
    ]
    return Table(f"One core, {title}", ("what", "seconds", "error, %", f"times {direct}"), rows)


def _compare(mine: float, theirs: float, name: str) -> str:
    word, ratio = ("faster", theirs / mine) if mine <= theirs else ("slower", mine / theirs)
    return f"{ratio:.1f} times {word} than {name}"


def main() -> None:
    """Measure both cases."""
    with_one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--error", type=float, default=0.01)
    add_folder_option(parser)
    arguments = parser.parse_args()
    for title, case in CASES.items():
        print(title, flush=True)
        table = measure(title, case, arguments.error, arguments.rounds)
        if arguments.to is not None:
            store_table(arguments.to, f"log-determinant-{title.partition(':')[0]}", table)


if __name__ == "__main__":
    main()
