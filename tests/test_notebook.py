"""The notebook example runs from the first cell to the last, and holds no stored output."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ONCE = "import benchfw, functools; benchfw.compare = functools.partial(benchfw.compare, replay=False)"
NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").rglob("*.ipynb"))


def cells(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.families
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.thorough
def test_a_notebook_runs_from_the_first_cell_to_the_last(path, tmp_path):
    script = "\n\n".join("".join(cell["source"]) for cell in cells(path))
    done = subprocess.run(
        [sys.executable, "-c", f"{ONCE}\n{script}\nprint('the end')"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("the end\n")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells(path))


def test_there_is_a_notebook():
    assert NOTEBOOKS
