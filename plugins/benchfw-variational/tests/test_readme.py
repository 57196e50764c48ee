"""What the README of this package shows is what happens."""

from __future__ import annotations

import ast
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_lines_of_the_readme_run_and_lower_the_bound(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(code, {})
    metrics, shape = capsys.readouterr().out.splitlines()
    before, after = ast.literal_eval(f"[{metrics.replace('} {', '}, {')}]")
    assert after["negative_bound"] < before["negative_bound"]
    (count,) = ast.literal_eval(shape)
    assert count == 280 + 280 * 281 // 2
