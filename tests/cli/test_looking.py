"""The verbs that only look: list, show, runs, report, export, replay, env, data."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.cli.suites import is_suite
from benchfw.cli.verbs.show import find
from benchfw.measure.trial import run_trial
from benchfw.records import Ending, change
from benchfw.registry import Registry

RAISING = """
plugins = ["bowls.py"]
repetitions = 1
budget = { iterations = 20 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "faulty"
how = "raise"
"""

SPACES = """
from benchfw import Integer, Log, Smooth, hookimpl

class Searched:
    solves = Smooth
    tuning = {"step": Log(1e-4, 10), "memory": Integer(1, 9)}

    def __init__(self, step: float = 0.5, memory: int = 3): ...

    def run(self, problem, rng): ...

@hookimpl
def register_optimizers(register):
    register("searched", Searched)
"""


@pytest.fixture
def ran(cli):
    done = cli("run", "bowls.toml", "--no-report")
    assert done.returncode == 0, done.stderr
    return cli


def test_list_names_what_plugins_register_with_a_line_on_each(cli):
    done = cli("list", "optimizers", "--plugin", "bowls.py")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if "slide" in line)
    assert "bowls.py" in line
    assert "Gradient descent, with a nap in every step." in line


@pytest.mark.families
def test_list_finds_the_shipped_suites_from_any_folder(cli):
    assert "quickstart" in [each["name"] for each in json.loads(cli("list", "suites", "--json").stdout)]


def test_show_tells_parameters_types_defaults_and_what_is_needed(cli):
    done = cli("show", "slide", "--plugin", "bowls.py")
    assert "optimizer slide (bowls.py)" in done.stdout
    assert "needs a Smooth problem" in done.stdout
    assert "step: float (default 0.5)\n      Step length.\n" in done.stdout
    (facts,) = json.loads(cli("show", "slide", "--plugin", "bowls.py", "--json").stdout)
    assert facts["parameters"][0] == {
        "name": "step",
        "type": "float",
        "default": "0.5",
        "meaning": "Step length.",
    }


def test_show_names_the_search_spaces_that_a_method_declares(cli):
    cli.write("spaces.py", SPACES)
    shown = cli("show", "searched", "--plugin", "spaces.py").stdout
    assert "\n  tuning: step 0.0001 to 10, log; memory 1 to 9, whole\n" in shown
    (facts,) = json.loads(cli("show", "searched", "--plugin", "spaces.py", "--json").stdout)
    assert facts["tuning"] == {"step": "0.0001 to 10, log", "memory": "1 to 9, whole"}


def test_show_of_a_problem_says_what_its_cost_counts(cli):
    assert "its cost counts gradients" in cli("show", "bowl", "--plugin", "bowls.py").stdout


@pytest.mark.families
def test_show_of_a_data_set_gives_its_title_and_where_more_stands(cli):
    shown = cli("show", "movielens-1m")
    assert shown.returncode == 0
    assert shown.stdout.startswith("dataset movielens-1m (benchfw-datasets")
    assert "MovieLens 1M: 1,000,209 ratings" in shown.stdout
    assert "`benchfw data show movielens-1m` has its arrays" in shown.stdout
    (facts,) = json.loads(cli("show", "movielens-1m", "--json").stdout)
    assert (facts["kind"], facts["parameters"]) == ("dataset", [])


def test_show_of_a_backend_tells_what_it_is_on_this_machine(cli):
    facts = get_backend("numpy").describe()
    (shown,) = json.loads(cli("show", "numpy", "--json").stdout)
    assert shown == {"kind": "backend", "name": "numpy", "here": facts}
    assert f"  numpy: {facts['numpy']}\n" in cli("show", "numpy").stdout
    assert "did you mean 'numpy'?" in cli("show", "nump").stderr


def test_every_name_that_list_gives_can_be_shown(cli, tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=np.ones((3, 2)), y=np.ones(3))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    here = {"BENCHFW_DATA": str(tmp_path)}
    listed = json.loads(cli("list", "--json", **here).stdout)
    assert "mine" in listed["datasets"]
    registry = Registry()
    shown = {name: find(name, registry, ()) for kind in listed if kind != "suites" for name in listed[kind]}
    assert all(facts[0]["name"] == name and describe(facts[0]) for name, (facts, describe) in shown.items())
    assert is_suite(listed["suites"][0], registry)
    assert f"  {tmp_path / 'mine.npz'}\n" in cli("show", "mine", **here).stdout


def test_show_of_a_protocol_lists_what_a_method_may_call(cli):
    shown = cli("show", "Smooth", "--plugin", "bowls.py").stdout
    assert "grad(params: Params) -> Params\n    Return the gradient" in shown
    (facts,) = json.loads(cli("show", "Smooth", "--plugin", "bowls.py", "--json").stdout)
    names = [each["name"] for each in facts["members"]]
    assert names == ["backend", "cost", "charge", "metrics", "start", "value", "grad", "project"]


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("Optimizer", "run(problem: Any, rng: Rng) -> Iterator[Any]"),
        ("Estimator", "estimates: Literal['value', 'grad', 'auto']"),
        ("Backend", "on_device: bool"),
        ("Rng", "standard_normal("),
        ("Kernel", "on(backend: str)"),
        ("Tuner", "propose("),
        ("OptionalOfMethod", "prepare("),
    ],
)
def test_show_of_a_class_that_plugins_are_written_against_lists_its_members(cli, name, member):
    done = cli("show", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] in (["protocol", name], ["class", name])
    assert f"\n  {member}" in done.stdout


def test_list_says_what_each_data_set_is(cli):
    cli.write(
        "sets.py",
        "from benchfw import hookimpl\nfrom benchfw.data import Dataset\n"
        "SURVEY = Dataset('survey', 'A survey of 300 bowls', by_hand='ask')\n"
        "@hookimpl\ndef register_datasets(register):\n    register('survey', SURVEY)\n",
    )
    rows = json.loads(cli("list", "datasets", "--plugin", "sets.py", "--json").stdout)
    (row,) = (each for each in rows if each["name"] == "survey")
    assert row["summary"] == "A survey of 300 bowls (by hand)"


def test_runs_counts_how_trials_ended(ran):
    assert json.loads(ran("runs", "--json").stdout)[0]["counts"] == {"done": 8}
    assert "8 done" in ran("runs").stdout


def test_export_has_the_columns_of_the_long_form_and_then_of_the_parameters(ran):
    header = ran("export").stdout.splitlines()[0]
    assert header == (
        "run,trial,suite,problem,method,backend,repetition,tuning,status,ending,reason,role,metric,iteration,seconds,cpu_seconds,cost,value,device,counting,from_scratch,step,scale"
    )


def test_export_writes_the_same_numbers_as_csv_json_and_parquet(ran):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    ran("export", "last", "--format", "json", "-o", "records.json")
    assert ran("export", "last", "--format", "parquet", "-o", "records.parquet").returncode == 0
    values = [float(row["value"]) for row in ran.records()]
    assert [row["value"] for row in json.loads((ran.folder / "records.json").read_text())] == values
    assert pd.read_parquet(ran.folder / "records.parquet")["value"].tolist() == values


def test_the_summary_agrees_with_the_records_it_comes_from(ran):
    rows = json.loads(ran("export", "--summary", "--format", "json").stdout)
    row = next(
        row for row in rows if row["method"] == "noisy (scale=2)" and row["quantity"] == "cost_per_draw"
    )
    assert row["estimate"] == 1.0
    assert row["count"] == 2
    assert {"bias", "variance", "mse", "seconds_per_draw", "variance_x_seconds"} <= {
        each["quantity"] for each in rows
    }
    assert {"gap", "seconds_to_target", "cost_to_target"} <= {each["quantity"] for each in rows}


def test_replay_runs_a_trial_again_and_finds_the_same_records(ran):
    trial = ran.records()[0]["trial"]
    done = ran("replay", trial, "--plugin", "bowls.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same " in done.stdout


def test_replay_of_a_trial_that_seconds_ended_compares_what_both_have(ran, monkeypatch):
    def stop_early(trial, registry, emit, hear):
        measured = []
        outcome = run_trial(trial, registry, measured.extend, hear=hear)
        emit(measured[:-1])
        return change(outcome, ending=Ending.SECONDS)

    number = ran.records()[0]["trial"]
    count = sum(row["trial"] == number and row["role"] != "fact" for row in ran.records())
    monkeypatch.setattr("benchfw.measure.trial.run_trial", stop_early)
    done = ran("replay", number, "--plugin", "bowls.py")
    common = f"the same {count - 1} records that both have ({count} then, {count - 1} now)"
    assert common in done.stdout
    assert done.returncode == 0


def test_replay_says_where_records_first_differ(ran):
    trial = next(row["trial"] for row in ran.records() if row["method"] == "slide (step=0.5)")
    source = (ran.folder / "bowls.py").read_text()
    ran.write("bowls.py", source.replace("answer - self.step *", "answer - 0.9 * self.step *"))
    done = ran("replay", trial, "--plugin", "bowls.py")
    assert done.returncode == 1
    assert "gap at iteration 1 was" in done.stdout


def test_replay_opens_the_debugger_where_a_trial_raises(cli):
    cli.write("raise.toml", RAISING)
    cli("run", "raise.toml", "--no-report")
    words = ["replay", cli.records()[0]["trial"], "--plugin", "bowls.py", "--pdb"]
    done = subprocess.run(
        [sys.executable, "-m", "benchfw", *words],
        cwd=cli.folder,
        input="p self.how * 2\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "third time unlucky" in done.stderr
    assert "'raiseraise'" in done.stdout


def test_report_writes_the_page_again(ran):
    done = ran("report")
    assert done.returncode == 0, done.stderr
    assert (ran.folder / "reports/run-1/index.html").is_file()


def test_env_tells_the_machine_and_the_backends(cli):
    facts = json.loads(cli("env", "--json").stdout)
    assert facts["machine"]["cores"] >= 1
    assert facts["packages"]["numpy"] == np.__version__
    assert "device" in facts["backends"]["numpy"]
    assert "cupy" in facts["backends"]


def test_env_is_silent_about_a_repository_where_there_is_none(cli):
    here = {"GIT_CEILING_DIRECTORIES": str(cli.folder.parent)}
    assert "project:" not in cli("env", **here).stdout
    assert "project" not in json.loads(cli("env", "--json", **here).stdout)


def test_data_lists_what_is_in_the_folders_of_the_variable(cli, tmp_path):
    np.savez(tmp_path / "tiny.npz", X=np.eye(2))
    listed = json.loads(cli("data", "list", "--json", BENCHFW_DATA=str(tmp_path)).stdout)
    assert "tiny" in [each["name"] for each in listed if each["state"] == "here"]
    assert cli("data", "path", "tiny", BENCHFW_DATA=str(tmp_path)).stdout.strip() == str(
        tmp_path / "tiny.npz"
    )
    missing = cli("data", "path", "tinny", BENCHFW_DATA=str(tmp_path))
    assert missing.returncode == 2
    assert "did you mean 'tiny'" in missing.stderr


def test_help_names_every_verb_and_the_exit_codes(cli):
    text = cli("--help").stdout
    for verb in ("run", "list", "show", "runs", "report", "export", "replay", "data", "env"):
        assert f"\n  {verb} " in text
    assert "130 interrupted, finished trials kept" in " ".join(text.split())
