"""Suites from Python: run one, look at what it found, load it again."""

import contextlib
import html
import json
import shutil
import tomllib
from pathlib import Path

import pytest

import benchfw
from benchfw.api.arguments import in_python
from benchfw.api.result import MOST_LINES
from benchfw.store import Store

PLUGIN = Path(__file__).parents[1] / "plugins" / "bowls.py"

SUITE = """
plugins = ["slides.py"]
repetitions = 2
budget = { iterations = 10 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
step = [0.5, 0.25]
"""
TABLES = {
    "plugins": ["slides.py"],
    "repetitions": 2,
    "budget": {"iterations": 10},
    "problem": [{"use": "bowl"}],
    "optimizer": {"use": "slide", "step": (0.5, 0.25)},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for all tests of this file, which is the working folder."""
    folder = tmp_path_factory.mktemp("session")
    shutil.copy(PLUGIN, folder / "slides.py")
    (folder / "slides.toml").write_text(SUITE)
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture(scope="module")
def ran(folder):
    return benchfw.run("slides.toml", replay=False)


def test_a_result_has_records_estimates_and_verdicts(ran):
    pytest.importorskip("pandas")
    assert (ran.counts, ran.reused) == ({"done": 4}, 0)
    frame = ran.frame
    assert list(frame.columns[:3]) == ["run", "trial", "suite"]
    # x_k - x* = 0.5 ** k (x_0 - x*), and the gap is half its square
    gaps = frame.query("repetition == 0 and step == 0.5").set_index("iteration")["value"]
    assert gaps[4] == pytest.approx(gaps[0] / 4**4)
    ends = ran.summary.query("quantity == 'gap'").set_index("step")
    assert ends.loc[0.5, "low"] <= ends.loc[0.5, "estimate"] < ends.loc[0.25, "estimate"]
    assert list(ran.verdicts) == ["bowl, optimizers (slide)"]


def test_the_same_run_is_loaded_from_the_store(ran):
    pytest.importorskip("pandas")
    for loaded in (benchfw.load(1), benchfw.load(ran), benchfw.load(ran.run), benchfw.runs()[0]):
        assert isinstance(loaded, benchfw.RunResult)
        assert loaded.frame.equals(ran.frame)
        assert repr(loaded) == repr(ran)
    assert repr(benchfw.runs()).startswith("run 1  ")
    assert len(benchfw.runs()[:1]) == 1


def test_a_result_is_shown_in_few_lines_that_say_where_its_trials_are(ran, monkeypatch):
    lines = repr(ran).splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith("bowl, optimizers (slide): ")
    assert lines[-1] == "run 1: 4 trials (4 done), kept in reports/benchfw.sqlite"
    again = benchfw.run("slides.toml")
    assert "nothing was run" in repr(again)
    assert "fresh=True runs them again" in repr(again)
    monkeypatch.setattr("benchfw.api.result.MOST_LINES", 5)
    assert len(repr(ran).splitlines()) == 5


def test_a_cell_shows_verdict_table_and_figure_without_scripts(ran):
    shown = html.unescape(ran._repr_html_())
    assert shown.count("<table>") == shown.count("<svg ") == 1
    assert next(iter(ran.verdicts.values())) in shown
    assert "<script" not in shown
    assert "run 1: 4 trials" in shown
    assert "<td" in benchfw.runs()._repr_html_()


def test_a_dict_a_path_and_a_file_are_the_same_suite(ran):
    again = benchfw.run(TABLES)
    assert again.reused == 4
    with Store(Path("reports/benchfw.sqlite")) as store:
        keys = [[each.trial.key for each in store.results(run)] for run in (ran.id, again.id)]
    assert keys[0] == keys[1]
    written = tomllib.loads(again.to_toml())
    assert {**tomllib.loads(SUITE), "plugins": ["slides.py"]} == {**written, "plugins": ["slides.py"]}
    Path("written.toml").write_text(again.to_toml(), encoding="utf-8")
    assert benchfw.run("written.toml").reused == 4


def test_run_takes_the_options_of_the_command_line(folder):
    result = benchfw.run(
        folder / "slides.toml",
        repetitions=1,
        store=folder / "other.sqlite",
        timeout=60.0,
        memory="1GB",
        jobs=0,
        only="0.5",
    )
    assert result.counts == {"done": 1}
    with pytest.raises(benchfw.BenchfwError, match="a part of a suite"):
        result.to_toml()
    odd = {**TABLES, "title": "<i>", "optimizer": {"use": "slide", "label": "<b>&"}}
    shown = benchfw.run(odd, jobs=0, replay=False)._repr_html_()
    assert "&lt;b&gt;&amp;" in shown
    assert "<b>&" not in shown
    assert "<i>" not in shown + benchfw.runs()._repr_html_()


def test_figures_are_drawn_by_matplotlib_and_plotly(ran):
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("plotly")
    plt.switch_backend("agg")
    axes = ran.plot("gap", x="iterations")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("iterations", "gap")
    _, own = plt.subplots()
    assert ran.plot(ax=own) is own
    assert own.get_xlabel() == "gradients"
    plt.close("all")
    drawn = ran.figure(x="seconds")
    assert {each.name for each in drawn.data} >= {"step=0.5", "step=0.25"}
    json.dumps(drawn.to_dict(), default=list)


def test_reports_and_bundles_are_written_where_asked(ran, folder):
    pytest.importorskip("jinja2")
    assert "<html" in ran.report("page.html").read_text(encoding="utf-8")
    assert ran.report("notes.md").read_text(encoding="utf-8").startswith("## slides")
    assert ran.report().name == "index.html"
    assert ran.save("slides.zip").is_file()


def test_a_trial_runs_again_in_this_process(ran, folder):
    outcome = ran.trial("slide (step=0.5)", repetition=1)
    number = ran.frame.query("repetition == 1 and step == 0.5")["trial"].iloc[0]
    then = ran.frame.query(f"trial == {number} and role == 'metric'")["value"]
    assert [each.value for each in outcome.records] == list(then)
    assert benchfw.load(ran).trial(int(number), plugins=["slides.py"]).records[-1].value == then.iloc[-1]
    faulty = {**TABLES, "optimizer": {"use": "faulty"}, "repetitions": 1}
    with pytest.raises(RuntimeError, match="third time unlucky"):
        benchfw.run(faulty, replay=False).trial("faulty")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("— `benchfw replay 12` runs it alone", "— `trial(12)` runs it alone"),
        ("— `benchfw replay 12 --plugin a.py` runs it alone", "— `trial(12)` runs it alone"),
        ("— `benchfw replay 12 --store 'a b.sqlite'` runs it alone", "— `trial(12)` runs it alone"),
        ("raise --timeout and give --retry-failed", "raise `timeout` and give retry_failed=True"),
        ("optimizer 'object:gd' has", "optimizer 'gd' has"),
        ("`benchfw run` makes one, or give --store", "`benchfw.run` makes one, or give `store`"),
        ("raise --memory, or", "raise `memory`, or"),
        ("trials shared one process (--jobs 0)", "trials shared one process (jobs=0)"),
    ],
)
def test_messages_name_arguments_where_the_command_line_has_options(told, said):
    assert in_python(told) == said
