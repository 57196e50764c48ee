"""The same from Python: run a suite, load its records, build a method directly."""

import shutil
from pathlib import Path

import pytest

import benchfw

PLUGIN = Path(__file__).parent / "plugins" / "bowls.py"

SUITE = """
plugins = ["slides.py"]
repetitions = 2
budget = { iterations = 10 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copy(PLUGIN, tmp_path / "slides.py")
    (tmp_path / "slides.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_returns_a_run_and_load_gives_its_records_as_a_frame(folder):
    pytest.importorskip("pandas")
    run = benchfw.run("slides.toml")
    assert run.counts == {"done": 2}
    assert run.report is not None
    assert run.report.is_file()
    frame = benchfw.load(run)
    assert list(frame.columns[:3]) == ["run", "trial", "suite"]
    # x_k - x* = 0.5 ** k (x_0 - x*), and the gap is half its square
    gaps = frame[frame["repetition"] == 0].set_index("iteration")["value"]
    assert gaps[4] == pytest.approx(gaps[0] / 4**4)
    assert frame.equals(benchfw.load("last").assign(run=run.id))


def test_run_takes_the_options_of_the_command_line(folder):
    run = benchfw.run("slides.toml", repetitions=3, store=folder / "other.sqlite", timeout=60.0)
    assert run.counts == {"done": 3}
    assert benchfw.run("slides.toml", repetitions=3, store=folder / "other.sqlite").reused == 3


def test_bad_input_is_an_error_of_ours(folder):
    with pytest.raises(benchfw.BenchfwError, match=r"no suite 'slidess\.toml'"):
        benchfw.run("slidess.toml")
