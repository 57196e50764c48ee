"""log det by the Chebyshev estimator, against the bare products that it needs and against other libraries.

`python suites/tracked/spectral_speed.py` prints a table: one thread, 30 probes, degree or steps 50, CPU
seconds and ratios, all methods in turn within one process. Peers that are not installed are left
out (`pip install 'benchfw-spectral[peers]'`).

In the dense case the eigenvalues crowd at the lower end of an interval of condition 15,000: a series of
degree 50 is cheap and far off there, and our `lanczos` is the one to hold against the others, all of them
Lanczos methods too.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from time import process_time

from _timing import with_one_thread

from benchfw.backends import get_backend
from benchfw.errors import Unavailable
from benchfw_spectral import Chebyshev, Deterministic, Lanczos, SpectralSumProblem
from benchfw_spectral.peers.imate import PeerImate
from benchfw_spectral.peers.linear_operator import PeerLinearOperator
from benchfw_spectral.peers.matfree import PeerMatfree
from benchfw_spectral.peers.primate import PeerPrimate

PROBES, DEGREE = 30, 50
CASES = {
    "sparse: 200 x 200 Laplacian + 0.1 I": {"matrix": "laplacian-2d", "size": 40_000, "shift": 0.1},
    "dense: 4,000 Gaussian points + 0.1 I": {"matrix": "rbf", "size": 4_000, "shift": 0.1, "length": 0.3},
}
METHODS = {
    "chebyshev": Chebyshev(PROBES, Deterministic(DEGREE)),
    "lanczos": Lanczos(PROBES, DEGREE),
    "imate": PeerImate(PROBES, DEGREE),
    "linear_operator": PeerLinearOperator(PROBES, DEGREE),
    "primate": PeerPrimate(PROBES, DEGREE),
    "matfree": PeerMatfree(PROBES, DEGREE),
}


def bare_products(problem: SpectralSumProblem, count: int) -> Callable[[int], None]:
    """Return a call that multiplies the probes so often, in the memory order that is best."""
    probes = problem.backend.rng(1).rademacher((problem.size, PROBES))
    block = probes.copy(order=problem.operator.order)

    def multiply(_: int) -> None:
        for _ in range(count):
            problem.stored @ block

    return multiply


def measure(case: dict[str, object], rounds: int) -> None:
    """Print one case: each call once to warm up, then in turn."""
    backend = get_backend("numpy")
    problem = SpectralSumProblem(backend, backend.rng(1), function="log", **case)
    exact = problem.value()
    calls: dict[str, Callable[[int], float | None]] = {
        f"{count} products": bare_products(problem, count) for count in (DEGREE // 2, DEGREE)
    }
    for name, method in METHODS.items():
        call = lambda seed, method=method: method.draw(problem, backend.rng(seed))(None)  # noqa: E731
        try:
            call(0)
        except Unavailable as reason:
            print(f"  {name}: {reason}")
            continue
        calls[name] = call
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    errors: dict[str, list[float]] = {name: [] for name in calls}
    for seed in range(1, rounds + 1):
        for name, call in calls.items():
            began = process_time()
            value = call(seed)
            seconds[name].append(process_time() - began)
            if value is not None:
                errors[name].append((value / exact - 1) ** 2)
    middle = {name: statistics.median(times) for name, times in seconds.items()}
    for name, time in middle.items():
        error = f"relative error {statistics.fmean(errors[name]) ** 0.5:.1e}" if errors[name] else ""
        print(f"  {name:<16} {time:8.3f} s   {error}")
    for ours, count in {"chebyshev": DEGREE // 2, "lanczos": DEGREE}.items():
        rivals = [name for name in ("imate", "linear_operator", "primate", "matfree") if name in middle]
        faster = ", ".join(f"{middle[name] / middle[ours]:.1f} times faster than {name}" for name in rivals)
        share = middle[ours] / middle[f"{count} products"]
        print(f"  {ours}: {share:.2f} times its {count} bare products{faster and f'; {faster}'}")


def main() -> None:
    """Measure both cases."""
    with_one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for title, case in CASES.items():
        print(title)
        measure(case, rounds)


if __name__ == "__main__":
    main()
