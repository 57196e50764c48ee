"""The recipes of docs/clusters.md, with processes of this machine for those of others."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec("benchfw_cluster") is None, reason="needs benchfw-cluster"),
]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
SUITE = """
plugins = ["bowls.py"]
repetitions = 2
budget = { iterations = 5 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
"""
SECONDS = 180  # against hanging


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(ROOT / "tests" / "plugins" / "bowls.py", tmp_path)
    (tmp_path / "suite.toml").write_text(SUITE)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_workers_that_are_started_by_hand_run_a_suite(folder):
    (script,) = re.findall(r"^```text\n(dask scheduler.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    words = ["sh", "-c", f"{script}wait"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert "2 trials (2 done)" in done.stdout, done.stderr


def test_the_containers_of_kubernetes_run_a_suite(folder):
    """Their commands, started here; the operator would give the worker its name and the scheduler."""
    (text,) = re.findall(r"^```yaml\n(apiVersion.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    cluster = yaml.safe_load(text)["spec"]
    scheduler, worker = (cluster[part]["spec"]["containers"][0]["args"] for part in ("scheduler", "worker"))
    file = folder / "scheduler.json"
    here = ("--scheduler-file", file)
    named = [word.replace("$(DASK_WORKER_NAME)", "bench-worker") for word in worker]
    started = [_start(folder, *scheduler, "--port", 0, "--no-dashboard", *here)]
    try:
        ends = time.monotonic() + SECONDS
        while not file.exists() and time.monotonic() < ends:
            time.sleep(0.05)
        started.append(_start(folder, *named, "--no-dashboard", "--death-timeout", 60, *here))
        words = ["benchfw", "run", "suite.toml", "--dask", "scheduler.json"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(SECONDS)
    assert "2 trials (2 done)" in done.stdout, done.stderr


def _start(folder, *words):
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(list(map(str, words)), cwd=folder, stdout=nowhere, stderr=nowhere)
