"""A copy of the small benchmark, and trials on it."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "benchmark"

if importlib.util.find_spec("benchopt") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def benchmark_folder(tmp_path):
    """Return a copy of the benchmark in a folder of its own; what benchopt made of it is forgotten."""
    before = set(sys.modules)
    yield Path(shutil.copytree(HERE, tmp_path / "small", ignore=shutil.ignore_patterns("__pycache__")))
    for name in set(sys.modules) - before:
        if name.startswith(("benchopt_benchmarks", "benchmark_utils")):
            del sys.modules[name]
