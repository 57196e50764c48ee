"""What an editor knows of the public names: types that mypy finds in a notebook's lines."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = """
from collections.abc import Callable
from pathlib import Path
from typing import Any, assert_type

import pandas as pd

import benchfw
from benchfw.api.session import RunResults
from benchfw.provenance import Environment
from benchfw.records import Outcome

result = benchfw.compare("quadratic", {"gd": "gd"}, budget={"seconds": 1.0}, target={"gap": 1e-3})
assert_type(result, benchfw.RunResult)
assert_type(benchfw.run({"title": "a dict"}, jobs=2), benchfw.RunResult)
assert_type(benchfw.load("last"), benchfw.RunResult)
assert_type(benchfw.runs(), RunResults)
assert_type(benchfw.runs()[-1], benchfw.RunResult)
assert_type(result.frame, pd.DataFrame)
assert_type(result.summary, pd.DataFrame)
assert_type(result.verdicts, dict[str, str])
assert_type(result.run.environment, Environment)
assert_type(result.report("page.html"), Path)
assert_type(result.trial("gd"), Outcome)
assert_type(benchfw.from_callback(print), type[Any])
assert_type(benchfw.from_callback(projects=True), Callable[[Callable[..., Any]], type[Any]])
result.frme
benchfw.compare("quadratic", "gd", jobs="two")
result.plot(x="time")
"""


@pytest.mark.thorough
def test_an_editor_knows_what_the_public_names_take_and_return(tmp_path):
    mypy = pytest.importorskip("mypy.api")
    path = tmp_path / "cell.py"
    path.write_text(LINES, encoding="utf-8")
    # as `make types` calls it, which leaves a cache
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache")]
    said, problems, _ = mypy.run([*options, str(path)])
    found = [line.partition("cell.py:")[2] for line in said.splitlines() if "error:" in line]
    last = len(LINES.splitlines())
    assert [line.partition(":")[0] for line in found] == [str(last - 2), str(last - 1), str(last)], (
        said + problems
    )
    assert 'has no attribute "frme"' in found[0]
