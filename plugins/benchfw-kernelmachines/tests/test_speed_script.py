"""The script that times predictions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("ratio", "code"), [(1.15, 0), (1.16, 1)])
def test_the_script_fails_beyond_its_limit(monkeypatch, capsys, ratio, code):
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "suites" / "tracked")
    import kernelmachines_speed as script

    monkeypatch.setattr(script, "with_one_thread", lambda: None)
    monkeypatch.setattr(script, "medians", lambda *_: {script.BARE: 1.0, script.PREDICTION: ratio})
    monkeypatch.setattr(sys, "argv", ["kernelmachines_speed.py"])
    with pytest.raises(SystemExit) as end:
        script.main()
    assert end.value.code == code
    assert ("BEYOND" in capsys.readouterr().out) == bool(code)
