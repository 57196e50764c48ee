"""The program on the page about PyTorch runs; its commands are run with those of all pages."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[4] / "docs" / "bridges" / "pytorch.md"


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_program_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    exec("".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)), {"__name__": "page"})
    assert "['adam', 'sgd']" in capsys.readouterr().out
