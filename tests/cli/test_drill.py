"""A small version of `make drill`: killed runs are taken up again, and nothing tells them from others."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "suites" / "tracked" / "drill.py"


@pytest.mark.skipif(sys.platform != "linux", reason="the drill finds processes by Linux's /proc")
@pytest.mark.thorough
def test_killed_runs_end_like_one_that_was_not(monkeypatch):
    spec = importlib.util.spec_from_file_location("drill", SCRIPT)
    drill = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "drill", drill)  # dataclasses look their module up
    spec.loader.exec_module(drill)
    monkeypatch.setattr(drill, "TRIALS", 16)
    monkeypatch.setattr(drill, "SUITE", drill.SUITE.replace("repetitions = 10", "repetitions = 4"))
    hits = drill.drill(kills=3, seed=54, seconds=300)  # the parent, the supervisor, a worker
    assert sum(hits.values()) == 3
    assert "not done: the time was up" not in hits
