"""benchfw.compare runs again what was edited, and nothing else."""

import warnings

import numpy as np
import pytest
from fixtures.cells import BOWLS, IN_WORKERS, SMALL, ends

import benchfw

pytestmark = pytest.mark.usefixtures("folder")


def test_the_same_cell_runs_nothing_again_and_an_edited_one_what_it_changed(notebook):
    def call():
        methods = {"slide": notebook["Slide"](0.5), "steps": notebook["steps"]}
        return benchfw.compare(notebook["bowl"], methods, **SMALL, store="edited.sqlite")

    first = call()
    again = call()
    assert (again.reused, "nothing was run" in repr(again)) == (2, True)
    notebook(BOWLS)  # run again as it is
    notebook.names["bowl"].grad(np.zeros(3))  # asking a problem changes nothing
    assert call().reused == 2
    notebook("""
    @dataclass(frozen=True)
    class Slide:
        step: float = 0.5

        def run(self, problem, rng):
            return steps(problem, rng, self.step / 2)
    """)
    edited = call()
    assert edited.reused == 1
    assert ends(edited)["Bowl", "slide"] == pytest.approx(1.5 * 0.75**24)
    assert ends(edited)["Bowl", "steps"] == ends(first)["Bowl", "steps"]
    notebook("bowl = Bowl(2 * np.ones(3))")
    moved = call()
    assert moved.reused == 0
    assert ends(moved)["Bowl", "steps"] == pytest.approx(6 / 4**12)


def test_a_trial_of_what_was_edited_since_says_so(notebook, folder):
    notebook("pace = 0.5\ndef paced(problem, rng):\n    return steps(problem, rng, pace)")
    result = benchfw.compare(notebook["bowl"], notebook["paced"], **SMALL, store="paced.sqlite")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result.trial("paced").records[-1].value == ends(result)["Bowl", "paced"]
    notebook("pace = 0.25")
    with pytest.warns(
        UserWarning, match=r"^paced has changed since run 1: this is not the trial that was run$"
    ):
        assert result.trial("paced").records[-1].value != ends(result)["Bowl", "paced"]
    notebook("""
    def reads(problem, rng):
        with open("pace.txt") as file:
            return steps(problem, rng, float(file.read()))
    """)
    (folder / "pace.txt").write_text("0.5")
    result = benchfw.compare(notebook["bowl"], notebook["reads"], **SMALL, store="paced.sqlite")
    (folder / "pace.txt").write_text("0.25")
    with pytest.warns(
        UserWarning, match=r"^not as in run 2: .* at iteration 1 was .*, and then .* has changed"
    ):
        result.trial("reads")


@pytest.mark.parametrize("settings", [SMALL, IN_WORKERS], ids=["inline", "worker"])
def test_a_file_that_a_cell_reads_is_noticed(notebook, folder, settings):
    (folder / "step.txt").write_text("0.5")
    notebook("""
    def read(problem, rng):
        return steps(problem, rng, float(Path("step.txt").read_text()))
    """)
    assert benchfw.compare(notebook["bowl"], notebook["read"], **settings).reused == 0
    assert benchfw.compare(notebook["bowl"], notebook["read"], **settings).reused == 1
    (folder / "step.txt").write_text("0.25")
    changed = benchfw.compare(notebook["bowl"], notebook["read"], **settings)
    assert changed.reused == 0
    assert ends(changed)["Bowl", "read"] == pytest.approx(1.5 * 0.75**24)


def test_a_session_that_cannot_be_seen_whole_is_run_every_time(notebook):
    notebook("""
    import types
    made_up = types.ModuleType("made_up")
    made_up.step = 0.5

    def uses(problem, rng):
        return steps(problem, rng, made_up.step)
    """)
    for _ in range(2):
        result = benchfw.compare(notebook["bowl"], {"a": notebook["uses"], "b": notebook["steps"]}, **SMALL)
        assert ends(result)["Bowl", "a"] == pytest.approx(1.5 / 4**12)
    assert result.reused == 1


def test_code_of_a_module_counts_as_it_is_in_its_file(notebook, folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    helper = "def factor():\n    return {}\n"
    (folder / "own_helper.py").write_text(helper.format(0.5))
    notebook("""
    import own_helper

    def helped(problem, rng):
        return steps(problem, rng, own_helper.factor())
    """)
    assert ends(benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS))["Bowl", "helped"] < 1e-6
    (folder / "own_helper.py").write_text(helper.format(0.25))
    edited = benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS)
    assert ends(edited)["Bowl", "helped"] == pytest.approx(1.5 * 0.75**24)
    assert benchfw.compare(notebook["bowl"], notebook["helped"], **IN_WORKERS).reused == 1
