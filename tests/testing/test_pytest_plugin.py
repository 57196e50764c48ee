"""The fixture `benchfw_benchmark`, in a pytest of its own."""

import importlib.metadata
import os
import subprocess
import sys

import pytest

INSTALLED = any(point.name == "benchfw" for point in importlib.metadata.entry_points(group="pytest11"))


def run_pytest(folder, text, *words):
    (folder / "test_mine.py").write_text(text)
    plugin = () if INSTALLED else ("-p", "benchfw.testing.pytest_plugin")
    # pytest-benchmark measures nothing where it takes itself for one of several workers
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, "--benchmark-max-time=0.01", *words],
        cwd=folder, env=alone, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_blocks_of_calls_wait_for_the_device_and_the_first_calls_are_not_timed(tmp_path):
    text = """
class Device:
    name, waited = "device", 0
    def synchronize(self):
        self.waited += 1
    def stopwatch(self):
        return None

def test_it(benchfw_benchmark, benchmark):
    calls, device = [], Device()
    assert benchfw_benchmark(device, calls.append, 1) is None
    rounds, calls_a_round = benchmark.stats["rounds"], benchmark.extra_info["calls_a_round"]
    assert benchmark.extra_info["backend"] == "device"
    assert len(calls) == 2 + rounds * calls_a_round
    assert device.waited == 2 + 2 * rounds  # before and after each block, and around the call that sizes them
"""
    done = run_pytest(tmp_path, text)
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("module", ["numpy", "scipy", "pandas", "rich", "click"])
def test_other_peoples_pytest_is_not_slowed_down(module):
    code = f"import benchfw.testing.pytest_plugin, sys; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
