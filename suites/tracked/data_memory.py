"""Peak memory of one pass over a data set of 4 GB, in batches: it must stay under 300 MB.

The set is a sparse .npy file in a temporary folder, so that it costs no disk; reading it costs what any
file costs, page after page. The pass runs in a process of its own, whose peak resident set is measured.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 300e6
ROWS, COLUMNS, BATCH = 1_000_000, 1000, 10_000

PASS = """
import numpy as np
from benchfw.backends import get_backend
from benchfw.data import batches

total = rows = 0
for batch in batches("large", {batch}):
    total += float(batch["x"].sum(dtype=np.float64))
    rows += len(batch["x"])
print(rows, total, get_backend("numpy").memory())
"""


def write_sparse(folder: Path, rows: int, columns: int) -> None:
    """Write x (rows, columns) float32, zeros except a one in the first and the last row."""
    import numpy as np
    from numpy.lib import format as npy

    folder.mkdir(parents=True)
    with (folder / "x.npy").open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)})
        one = np.ones(1, "<f4").tobytes()
        file.write(one)
        file.seek((rows * columns - 2) * 4, os.SEEK_CUR)
        file.write(one)


def peak_of_a_pass(rows: int = ROWS, columns: int = COLUMNS, batch: int = BATCH) -> float:
    """Return the peak resident bytes of a process that reads every row once."""
    with tempfile.TemporaryDirectory() as folder:
        write_sparse(Path(folder) / "large", rows, columns)
        done = subprocess.run(
            [sys.executable, "-c", PASS.format(batch=batch)],
            env={**os.environ, "BENCHFW_DATA": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    seen, total, peak = map(float, done.stdout.split())
    assert (seen, total) == (rows, 2.0), "not every row was read"
    return peak


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    megabytes = peak_of_a_pass() / 1e6
    size = ROWS * COLUMNS * 4 / 1e9
    print(f"one pass over {size:.3g} GB in batches of {BATCH:,} rows: peak {megabytes:.3g} MB (limit 300 MB)")
    sys.exit(0 if megabytes * 1e6 < LIMIT else 1)
