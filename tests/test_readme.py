"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
pytest.importorskip("benchfw_firstorder", reason="the README's suite needs the first-order plugin")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def line(tmp_path):
    (suite,) = blocks("toml")
    plugin, _ = blocks("python")
    (tmp_path / "momentum.toml").write_text(suite, encoding="utf-8")
    (tmp_path / "heavyball.py").write_text(plugin, encoding="utf-8")

    def run(*words):
        words = [sys.executable, "-m", "benchfw", *words]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    run.folder = tmp_path
    return run


def test_the_suite_of_the_readme_runs(line):
    done = line("run", "momentum.toml", "--repetitions", "2", "--no-report")
    assert done.returncode == 0, done.stderr
    assert "heavy-ball (momentum=0.9)" in done.stdout


def test_the_plugin_of_the_readme_runs(line):
    suite = line.folder / "momentum.toml"
    suite.write_text(suite.read_text().replace('"heavy-ball"', '"my-heavy-ball"'))
    done = line("run", "momentum.toml", "--plugin", "heavyball.py", "--repetitions", "2", "--no-report")
    assert done.returncode == 0, done.stderr


def test_the_mistake_of_the_readme_is_told_as_it_says(line):
    suite = line.folder / "momentum.toml"
    suite.write_text(suite.read_text().replace('"heavy-ball"', '"heavy-bal"'))
    done = line("run", "momentum.toml")
    assert done.returncode == 2
    shown = next(block for block in blocks("console") if "heavy-bal'" in block)
    assert done.stderr.strip() == shown.strip().splitlines()[-1]


def test_the_notebook_lines_of_the_readme_run(tmp_path):
    _, notebook = blocks("python")
    code = f"{notebook}\nprint(len(frame))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 100
