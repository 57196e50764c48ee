"""The same from Python: run a suite, load its records, build a method directly."""

import pytest

import benchfw

PLUGIN = '''
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

class Bowl:
    """Half the squared distance to a random point."""
    def __init__(self, backend, rng, size: int = 3):
        self.backend, self.cost, self.goal = backend, 0.0, rng.standard_normal(size)
    def start(self):
        return 0 * self.goal
    def value(self, params):
        return float(((params - self.goal) ** 2).sum()) / 2
    def grad(self, params):
        self.cost += 1
        return params - self.goal
    def project(self, params):
        return params
    def metrics(self, answer):
        return {"gap": self.value(answer)}

@dataclass(frozen=True)
class Slide:
    """Gradient descent."""
    step: float = 0.5
    solves = Smooth
    def run(self, problem, rng):
        answer = problem.start()
        while True:
            yield answer
            answer = answer - self.step * problem.grad(answer)

@hookimpl
def register_problems(register):
    register("bowl", Bowl)

@hookimpl
def register_optimizers(register):
    register("slide", Slide)
'''

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
    (tmp_path / "slides.py").write_text(PLUGIN)
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
