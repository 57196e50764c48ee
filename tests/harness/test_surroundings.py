"""Which threads keep a process from being forked."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
