"""A plugin registers a kernel, and it is measured and tested everywhere, with no other file touched."""

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = {point.name for point in importlib.metadata.entry_points(group="pytest11")}

KERNEL = '''
from benchfw import hookimpl
from benchfw.kernels import kernel

@kernel("throwaway-double")
def double(x):
    """Return 2 x, shaped like x."""
    return 2 * x

@double.on("numpy")
def double_numpy(x):
    return x + x

@hookimpl
def register_kernels(register):
    register(double, lambda backend, rng, size: (rng.standard_normal(size),))
'''


@pytest.fixture
def python(tmp_path):
    """Return a function that runs Python in the repository, with the plugin installed."""
    (tmp_path / "throwaway.py").write_text(KERNEL)
    about = tmp_path / "throwaway-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: throwaway\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[benchfw]\nthrowaway = throwaway\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    home = {"PYTHONPATH": path, "ASV_PYTHONPATH": path, "HOME": str(tmp_path)}
    # pytest-benchmark measures nothing where it takes itself for one of several workers
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}

    def run(*words):
        done = subprocess.run(
            [sys.executable, *map(str, words)], cwd=ROOT, env={**alone, **home},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.thorough
def test_asv_runs_it_on_every_backend_and_an_absent_one_is_n_a(python, tmp_path):
    known = json.loads((ROOT / "asv.conf.json").read_text())
    places = {name: str(tmp_path / name) for name in ("env_dir", "results_dir", "html_dir")}
    config = tmp_path / "asv.conf.json"
    repo, folder = str(ROOT), str(ROOT / known["benchmark_dir"])
    config.write_text(json.dumps({**known, **places, "repo": repo, "benchmark_dir": folder}))
    asv = ("-m", "asv", "--config", config)
    python(*asv, "machine", "--yes", "--machine", "test")
    shown = python(*asv, "run", "--quick", "--python=same", "--machine", "test", "--bench", "ThrowawayDouble")
    assert "kernels.ThrowawayDouble.track_seconds_per_call" in shown
    assert "kernels.ThrowawayDouble.track_bytes_held" in shown
    assert "backend" in shown
    assert "failed" not in shown
    try:
        importlib.metadata.version("cupy")
    except importlib.metadata.PackageNotFoundError:
        assert "n/a" in shown


@pytest.mark.thorough
def test_pytest_benchmark_has_both_of_its_bodies(python):
    plugin = () if "benchfw" in PLUGINS else ("-p", "benchfw.testing.pytest_plugin")
    words = ("tests/benchmarks", "--benchmark-only", "-k", "throwaway")
    shown = python("-m", "pytest", "-q", *plugin, *words)
    assert "test_kernel[throwaway-double-numpy-own]" in shown
    assert "test_kernel[throwaway-double-numpy-portable]" in shown


@pytest.mark.thorough
def test_the_parity_tests_take_it_up(python):
    shown = python("-m", "pytest", "-v", "--all", "tests/kernels/test_parity.py", "-k", "throwaway")
    assert re.search("kernel-throwaway-double:-bodies-agree.* PASSED", shown)


def test_benchfw_time_has_a_row_of_it(python, tmp_path):
    store = tmp_path / "time.sqlite"
    words = ("--size", "1000", "--limit", "0.5", "--backend", "numpy", "--no-report", "--json")
    rows = json.loads(python("-m", "benchfw", "time", "throwaway-double", *words, "--store", store))["rows"]
    assert {row["method"] for row in rows if row["quantity"] == "seconds_per_call"} == {"throwaway-double"}
