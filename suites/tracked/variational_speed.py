"""One PG-SVI step against the one Cholesky solve that it needs, and ten passes against a hundred of Adam.

`python suites/tracked/variational_speed.py` measures on usps-2vs4, 884 examples, in batches of 20 with the
steps of Khan et al. 2016, Table 1: one thread, CPU seconds, and ratios within one process. A step may take
1.3 times the solve, and is to take less with `refactor`, where a factor is used again. Both methods of the
second part take 2,000 samples by the score function, as in the suite table1_usps; --rounds 0 and --passes 0
leave a part out. The data are got by hand (`benchfw data show usps-2vs4`
says how); `--dataset "usps-like(rows=1781, train=884)"` takes a synthetic set of the same size. `--to
suites/tracked/measured` stores the steps, which docs/performance.md shows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np
from _measured import Table, store_table
from _timing import add_folder_option, cpu_seconds, medians, refusals, with_one_thread
from scipy.linalg import cho_factor, cho_solve

from benchfw.backends import get_backend
from benchfw_firstorder import Adam
from benchfw_variational import PGSVI, GPClassification, ScoreFunction

DATASET, STEP, BATCH, SAMPLES = "usps-2vs4", 2.5 / 884, 20, 2_000
SAMPLED = {"expectation": "score-function", "samples": SAMPLES}
REFACTOR = 4
METHODS = {
    "a step": PGSVI(STEP, batch=BATCH),
    f"refactor = {REFACTOR}": PGSVI(STEP, batch=BATCH, refactor=REFACTOR),
    f"a step, {SAMPLES:,} samples": PGSVI(STEP, batch=BATCH, **SAMPLED),
    f"refactor = {REFACTOR}, {SAMPLES:,} samples": PGSVI(STEP, batch=BATCH, refactor=REFACTOR, **SAMPLED),
}
AT_ONCE = 3 * REFACTOR  # steps: lives of whole factors


def go(answers: Iterator[object], count: int) -> object:
    """Take so many steps of a method, and return the last answer."""
    return next(islice(answers, count - 1, None))


def one_step(problem: GPClassification, rounds: int) -> Table:
    """Print and return the times of steps, and their ratios to the solve with B = I + (s s')∘K.

    The solve has one right-hand side, and gets B, which a step has to make.
    """
    rng = problem.backend.rng
    paths = {name: method.run(problem, rng(2)) for name, method in METHODS.items()}
    a_pass = math.ceil(problem.num_samples / BATCH)
    *_, posterior = (go(path, 1 + a_pass) for path in paths.values())
    scales, right = posterior.precisions**0.5, rng(3).standard_normal(problem.num_samples)
    matrix = np.asfortranarray(np.eye(len(scales)) + scales * problem.prior.gram * scales[:, None])

    def solve() -> None:
        for _ in range(AT_ONCE):
            cho_solve(cho_factor(matrix, lower=True, check_finite=False), right, check_finite=False)

    calls = {"the solve": solve, **{name: partial(go, path, AT_ONCE) for name, path in paths.items()}}
    times = medians(calls, rounds)
    for name, time in times.items():
        print(
            f"  {name:<28} {1e3 * time / AT_ONCE:6.2f} ms   {time / times['the solve']:.2f} times the solve"
        )
    title = f"One core, PG-SVI, {problem.num_samples} examples, batches of {BATCH}"
    rows = [(name, 1e3 * time / AT_ONCE, time / times["the solve"]) for name, time in times.items()]
    return Table(title, ("what", "ms", "times the solve"), rows)


def to_the_end(problem: GPClassification, passes: int) -> None:
    """Print the times of so many passes of PG-SVI and ten times as many of Adam, and where both end."""
    rng, a_pass = problem.backend.rng, math.ceil(problem.num_samples / BATCH)
    adam = Adam(2.5, estimator=ScoreFunction(BATCH, SAMPLES))
    seconds, bounds = [], []
    for name, method, count in (
        ("pg-svi", PGSVI(STEP, batch=BATCH, **SAMPLED), passes),
        ("adam", adam, 10 * passes),
    ):
        answers: list[object] = []
        path = method.run(problem, rng(2))
        seconds.append(cpu_seconds(lambda: answers.append(go(path, 1 + count * a_pass))))  # noqa: B023
        bounds.append(problem.metrics(answers[0])["negative_bound"])
        print(f"  {name:<8} {count:4} passes {seconds[-1]:8.1f} s   bound {bounds[-1]:,.1f}")
    if bounds[0] > bounds[1]:
        print("  adam ends lower: their times are not compared")
        return
    ratio = seconds[1] / seconds[0]
    print(f"  {10 * passes} passes of adam: {ratio:.1f} times as long as {passes} of pg-svi, ending no lower")


def main() -> None:
    """Measure both."""
    with_one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--dataset", default=DATASET)
    add_folder_option(parser)
    arguments = parser.parse_args()
    backend = get_backend("numpy")
    with refusals("--dataset takes another one"):
        problem = GPClassification(backend, backend.rng(1), dataset=arguments.dataset)
    print(f"{arguments.dataset}, {problem.num_samples} examples, batches of {BATCH}")
    if arguments.rounds:
        table = one_step(problem, arguments.rounds)
        if arguments.to is not None:
            store_table(arguments.to, "pg-svi", table)
    if arguments.passes:
        to_the_end(problem, arguments.passes)


if __name__ == "__main__":
    main()
