"""The scripts that time the estimators of this family."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def tracked(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "suites" / "tracked")


def test_only_what_reaches_the_error_is_compared_and_the_exact_way_is_named(monkeypatch, capsys, tracked):
    import spectral_speed as script

    far = SimpleNamespace(draw=lambda *_: lambda _: 1.0)
    methods = {"chebyshev": script.METHODS["chebyshev"], "far": lambda _: far}
    monkeypatch.setattr(script, "METHODS", methods)
    table = script.measure(
        "small", {"matrix": "rbf", "size": 60, "shift": 1.0, "length": 0.5}, target=0.2, rounds=3
    )
    said = capsys.readouterr().out.splitlines()
    assert any(line.split()[0] == "far" and line.endswith("not compared") for line in said)
    timed = [line for line in said if " s   error " in line]
    assert [line.split()[0] for line in timed] == ["exact", "chebyshev,"]
    assert any("than exact Cholesky" in line and "than far" not in line for line in said)
    assert said[-1].startswith("  the fastest with an error of at most 20 %: ")
    assert [row[0].partition(",")[0] for row in table.rows][:2] == ["exact Cholesky", "chebyshev"]
    assert "far" not in {row[0] for row in table.rows}


def test_without_data_the_script_says_what_it_needs_and_how_to_get_it(monkeypatch, capsys, tracked, tmp_path):
    import spectral_gradient as script

    for variable, value in {
        "BENCHFW_DATA": "",
        "BENCHFW_CACHE": str(tmp_path),
        "BENCHFW_OFFLINE": "1",
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(script, "with_one_thread", lambda: None)
    monkeypatch.setattr(sys, "argv", ["spectral_gradient.py"])
    with pytest.raises(SystemExit) as end:
        script.main()
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.count("\n") == 1
    assert "`benchfw data fetch movielens-1m`" in said
    assert "--dataset" in said
