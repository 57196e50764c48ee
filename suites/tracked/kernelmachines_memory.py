"""Peak memory of training on 10 million memory-mapped rows with 100,000 features: it must stay under 1 GB.

The set is like MNIST-8M, but larger: 7.8 GB of bytes in a sparse .npy file, which costs no disk, and labels.
Building the problem, 25 steps of DSG with blocks of 4,096 features, and a look at the metrics run in a
process of their own, whose peak resident set is measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 1e9
ROWS, PIXELS, CLASSES = 10_000_000, 784, 10
BLOCK, STEPS, BATCH = 4096, 25, 1024

TRAINING = """
from benchfw.backends import get_backend
from benchfw_kernelmachines.optimizers.dsg import DSG
from benchfw_kernelmachines.problems.kernel_classification import KernelClassification

backend = get_backend("numpy")
problem = KernelClassification(backend, backend.rng(0), dataset="large", length=10.0)
answers = DSG(batch={batch}, block={block}).run(problem, backend.rng(1))
for _ in range(1 + {steps}):
    answer = next(answers)
loss = problem.metrics(answer)["loss"]
print(problem.num_samples, problem.cost, answer.num_features, loss, backend.memory())
"""


def write_sparse(folder: Path, rows: int, pixels: int) -> None:
    """Write x (rows, pixels) uint8, all zero, and y (rows,) of ten classes."""
    import numpy as np
    from numpy.lib import format as npy

    folder.mkdir(parents=True)
    np.save(folder / "y.npy", (np.arange(rows) % CLASSES).astype(np.uint8))
    with (folder / "x.npy").open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": (rows, pixels)})
        file.truncate(file.tell() + rows * pixels)


def peak_of_training(rows: int = ROWS, pixels: int = PIXELS, block: int = BLOCK, steps: int = STEPS) -> float:
    """Return the peak resident bytes of a process that trains on all rows but those that test."""
    with tempfile.TemporaryDirectory() as folder:
        write_sparse(Path(folder) / "large", rows, pixels)
        done = subprocess.run(
            [sys.executable, "-c", TRAINING.format(batch=BATCH, block=block, steps=steps)],
            env={**os.environ, "BENCHFW_DATA": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    samples, seen, features, loss, peak = map(float, done.stdout.split())
    assert (samples, seen, features) == (rows * 9 // 10, steps * BATCH, steps * block), (
        "not what was asked for"
    )
    assert loss < 10, "the training diverged"
    return peak


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    megabytes = peak_of_training() / 1e6
    size = ROWS * PIXELS / 1e9
    print(
        f"{STEPS * BLOCK:,} features on {ROWS:,} rows, {size:.3g} GB: peak {megabytes:.3g} MB (limit 1000 MB)"
    )
    sys.exit(0 if megabytes * 1e6 < LIMIT else 1)
