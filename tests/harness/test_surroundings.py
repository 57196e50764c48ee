"""Which threads keep a process from being forked, and how many the native libraries have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchfw.harness.inputs import THREAD_VARIABLES

COUNT = "; from benchfw.system import count_threads; print(count_threads())"


@pytest.mark.parametrize(
    ("code", "threads"),
    [
        ("import numpy", 1),
        ("import pyarrow", 1),  # jemalloc starts a thread that returns memory, and prepares for forks
        ("import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", 2),
    ],
    ids=["none", "of an allocator", "another"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which threads there are")
def test_threads_count_unless_their_library_prepares_for_a_fork(code, threads, monkeypatch):
    if "pyarrow" in code:
        pytest.importorskip("pyarrow")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    answer = subprocess.run([sys.executable, "-c", code + COUNT], capture_output=True, text=True, check=True)
    assert int(answer.stdout) == threads


def test_libraries_that_a_warm_up_loads_get_the_threads_of_the_trials():
    code = """
from threadpoolctl import threadpool_info
from benchfw.harness.workers.surroundings import Surroundings
before = {each["filepath"] for each in threadpool_info()}
surroundings = Surroundings(1)
import scipy.linalg
loaded = [each for each in threadpool_info() if each["filepath"] not in before]
surroundings.limit_new_libraries()
print(*(each["num_threads"] for each in threadpool_info()), len(loaded))
"""
    variables = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True
    )
    *threads, loaded = map(int, done.stdout.split())
    if not loaded:
        pytest.skip("NumPy and SciPy share one BLAS here")
    assert set(threads) == {1}
