"""The script that times steps of PG-SVI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def test_without_data_the_script_says_what_it_needs_and_how_to_get_it(monkeypatch, capsys, tmp_path):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "suites" / "tracked")
    import variational_speed as script

    monkeypatch.setenv("BENCHFW_DATA", "")
    monkeypatch.setenv("BENCHFW_CACHE", str(tmp_path))
    monkeypatch.setattr(script, "with_one_thread", lambda: None)
    monkeypatch.setattr(sys, "argv", ["variational_speed.py"])
    with pytest.raises(SystemExit) as end:
        script.main()
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.count("\n") == 1
    assert "`benchfw data import usps-2vs4 FILE`" in said
    assert "--dataset" in said
