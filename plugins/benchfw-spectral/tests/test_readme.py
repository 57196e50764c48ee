"""What the README of the package shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_code_of_the_readme_runs_and_estimates_what_it_says(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    estimates, variance = done.stdout.splitlines()
    exact, *draws = (float(number) for number in re.findall(r"[-\d.]+\d", estimates))
    assert len(draws) == 3
    assert all(abs(draw / exact - 1) < 0.05 for draw in draws)
    assert 0 < float(variance) < 1e-6
