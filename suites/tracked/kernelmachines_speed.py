"""Prediction over features that are made anew, against the bare work on weights that are stored.

`python suites/tracked/kernelmachines_speed.py` prints a table for 4,096 rows of 100 coordinates, blocks of
256 frequencies and 10 outputs, float32: one thread, CPU milliseconds a block and ratios within one process.
The bare work is one product of rows and stored weights, and its cosines and sines. scikit-learn's RBFSampler
stores its weights too, and has as many cosines with random shifts, which are less exact than pairs of a
cosine and a sine (Sutherland & Schneider 2015). `--to
suites/tracked/measured` stores what docs/performance.md shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from unittest import mock

import numpy as np
from _measured import Table, store_table
from _timing import add_folder_option, medians, with_one_thread
from sklearn.kernel_approximation import RBFSampler

from benchfw.backends import get_backend
from benchfw_kernelmachines.covariances import get_covariance
from benchfw_kernelmachines.features import get_frequencies
from benchfw_kernelmachines.kernels import waves
from benchfw_kernelmachines.kernels.random_features import feature_gram, feature_products
from benchfw_kernelmachines.predictor import FeaturePredictor

ROWS, DIMENSION, COUNT, OUTPUTS, BLOCKS = 4096, 100, 256, 10, 4
LIMIT = 1.15  # of prediction over independent Gaussian features, with numba installed
BARE, PREDICTION = "bare product, cos, sin", "prediction, regenerated"


def calls() -> dict[str, Callable[[], object]]:
    """Return what is timed, by name; each goes over all blocks."""
    backend = get_backend("numpy")
    rng = backend.rng(1)
    rows = rng.standard_normal((ROWS, DIMENSION), np.float32)
    residuals = rng.standard_normal((ROWS, OUTPUTS), np.float32)
    coefficients = tuple(rng.standard_normal((2, COUNT, OUTPUTS), np.float32) for _ in range(BLOCKS))
    length = (2 * DIMENSION) ** 0.5  # the distance of two rows
    space = backend, get_covariance("gaussian", length), DIMENSION, COUNT
    made = {
        kind: FeaturePredictor(get_frequencies(kind, *space, seed=1), coefficients, 1.0, OUTPUTS)
        for kind in ("independent", "orthogonal", "quasi-monte-carlo")
    }
    frequencies = made["independent"].frequencies
    stored = [frequencies.block(number) for number in range(BLOCKS)]
    phases, cosines, sines = (np.empty((ROWS, COUNT), np.float32) for _ in range(3))

    def bare() -> None:
        for block in stored:
            np.matmul(rows, block, out=phases)
            np.cos(phases, out=cosines)
            np.sin(phases, out=sines)

    sampler = RBFSampler(gamma=0.5 / length**2, n_components=2 * COUNT, random_state=1).fit(rows)

    def by_scikit_learn() -> None:
        for block in coefficients:
            sampler.transform(rows) @ block.reshape(2 * COUNT, OUTPUTS)

    def by_numpy_alone() -> None:
        with mock.patch.object(waves, "MANY", float("inf")):
            made["independent"].predict(rows)

    return {
        BARE: bare,
        PREDICTION: lambda: made["independent"].predict(rows),
        "  by NumPy alone": by_numpy_alone,
        "  orthogonal": lambda: made["orthogonal"].predict(rows),
        "  quasi-monte-carlo": lambda: made["quasi-monte-carlo"].predict(rows),
        "scikit-learn's RBFSampler": by_scikit_learn,
        "making the frequencies": lambda: [frequencies.block(number) for number in range(BLOCKS)],
        "products with residuals": lambda: [feature_products(rows, block, residuals) for block in stored],
        "gram of the features": lambda: [feature_gram(rows, block) for block in stored],
    }


def main() -> None:
    """Print the table, and whether prediction stays within its limit; exit with 1 where it does not."""
    with_one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    add_folder_option(parser)
    arguments = parser.parse_args()
    times = medians(calls(), arguments.rounds)
    if arguments.to is not None:
        title = (
            f"One core, {ROWS:,} rows of {DIMENSION}, {COUNT} frequencies a block, {OUTPUTS} outputs, float32"
        )
        rows = [(name.strip(), 1e3 * time / BLOCKS, time / times[BARE]) for name, time in times.items()]
        store_table(arguments.to, "features", Table(title, ("what", "ms a block", f"times the {BARE}"), rows))
    for name, time in times.items():
        print(f"{name:<26} {1e3 * time / BLOCKS:7.2f} ms   {time / times[BARE]:.2f} times the bare work")
    ratio = times[PREDICTION] / times[BARE]
    verdict = "within" if ratio <= LIMIT else "BEYOND"
    print(f"prediction over regenerated features: {ratio:.2f} times the bare work, {verdict} {LIMIT}")
    sys.exit(0 if ratio <= LIMIT else 1)


if __name__ == "__main__":
    main()
