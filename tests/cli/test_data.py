"""`benchfw data`: every verb, and one sentence with exit code 2 for every mistake."""

import json

import numpy as np
import pytest

PLUGIN = """
import numpy as np
from benchfw import DatasetName, hookimpl
from benchfw.data import ArraySpec, Dataset

@hookimpl
def register_datasets(register):
    arrays = {"x": ArraySpec((3,), "float64")}
    register("my-survey", Dataset("my-survey", "A survey", arrays, by_hand="ask me"))
    register("my-simulation", simulate)

def simulate(count: int = 4):
    "A simulation."
    return {"x": np.ones((count, 2)), "y": np.arange(count) % 2}

@hookimpl
def register_problems(register):
    register("data-bowl", DataBowl)

class DataBowl:
    cost = 0.0

    def __init__(self, backend, rng, *, dataset: DatasetName = "my-simulation"):
        from benchfw.data import load

        self.backend = backend
        self.size = len(load(dataset)["y"])

    def start(self):
        return self.backend.xp.ones(self.size)

    def value(self, params):
        return float((params * params).sum())

    def grad(self, params):
        self.cost += 1
        return 2 * params

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"size": float(self.size)}
"""


@pytest.fixture
def line(cli):
    """The command line with an empty cache, a folder of data, and no network."""
    cache, folder = cli.folder / "cache", cli.folder / "data"
    folder.mkdir()
    np.savez(folder / "mine.npz", x=np.arange(3.0), words=np.array(["a", "b"]))
    np.savez(folder / "sonar.npz", X=np.zeros((208, 60)), y=np.ones(208, np.int8))
    cli.environment |= {"BENCHFW_CACHE": str(cache), "BENCHFW_DATA": str(folder), "BENCHFW_OFFLINE": "1"}
    cli.write("surveys.py", PLUGIN)
    return cli


def test_the_list_tells_what_is_here_what_can_be_fetched_and_what_not(line):
    rows = {row["name"]: row for row in json.loads(line("data", "list", "--json").stdout)}
    states = {
        name: rows[name]["state"] for name in ("mine", "sonar", "mnist", "szeged-weather", "sonar-like")
    }
    assert states == {
        "mine": "here",
        "sonar": "here",
        "mnist": "can be fetched",
        "szeged-weather": "by hand",
        "sonar-like": "made on demand",
    }
    assert rows["mnist"]["address"].startswith("https://")
    text = line("data", "list").stdout
    assert "no redistribution" in text
    assert "2 of " in text


def test_a_plugin_that_cannot_be_loaded_does_not_hide_the_others(line):
    line.write("bad.py", "import nothing_of_this_name")
    done = line("data", "list", "--plugin", "bad.py", "--plugin", "surveys.py")
    assert done.returncode == 0
    assert "bad" in done.stderr
    assert "my-survey" in done.stdout


def test_plugins_are_listed_too(line):
    done = line("data", "list", "--plugin", "surveys.py")
    assert "my-survey" in done.stdout
    assert "my-simulation" in done.stdout


def test_all_names_are_listed_with_the_others(line):
    done = line("list", "datasets")
    assert done.returncode == 0
    assert "movielens-1m" in done.stdout
    assert str(line.folder / "data" / "mine.npz") in done.stdout


def test_a_path_is_printed(line):
    assert line("data", "path", "sonar").stdout.strip() == str(line.folder / "data" / "sonar.npz")


def test_show_tells_citation_licence_arrays_and_statistics(line):
    text = line("data", "show", "sonar").stdout
    for part in (
        "Gorman",
        "CC BY",
        "(208, 60) float64",
        "mean 1",
        "sonar-like",
        "https://archive.ics.uci.edu",
    ):
        assert part in text
    facts = json.loads(line("data", "show", "mine", "--json").stdout)
    assert facts["here"]["arrays"]["x"]["max"] == 2
    assert "movielens" in line("data", "show", "movielens-1m").stdout


def test_verify_tells_what_was_checked(line):
    done = line("data", "verify")
    assert done.returncode == 0, done.stderr
    assert "in no catalog" in done.stdout
    (line.folder / "data" / "mine.npz").write_bytes(b"damaged")
    done = line("data", "verify")
    assert done.returncode == 1
    assert "cannot be read" in done.stdout
    np.savez(line.folder / "data" / "sonar.npz", X=np.zeros((2, 60)), y=np.ones(2, np.int8))
    done = line("data", "verify", "sonar", "--json")
    assert done.returncode == 1
    assert "(2, 60)" in json.loads(done.stdout)[0]["verdict"]


def test_import_places_a_file_and_says_what_was_checked(line):
    np.savez(line.folder / "ionosphere.npz", X=np.zeros((351, 34)), y=np.ones(351, np.int8))
    done = line("data", "import", "ionosphere", "ionosphere.npz")
    assert done.returncode == 0, done.stderr
    assert "shapes and types only" in done.stdout
    assert line("data", "path", "ionosphere").stdout.strip() == str(line.folder / "cache" / "ionosphere.npz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch", "mnist"], r"BENCHFW_OFFLINE forbids downloads: https://storage.googleapis.com"),
        (["fetch", "szeged-weather"], "Kaggle asks for an account"),
        (["fetch", "sonra"], "did you mean 'sonar'"),
        (["fetch", "sonar-like"], "made on demand; there is nothing to fetch"),
        (["path", "mnist"], 'synthetic stand-in: dataset = "mnist-like'),
        (["path", "mein"], "did you mean 'mine'"),
        (["show", "mein"], "the catalog has no data set 'mein'"),
        (["verify", "mnist"], "is not in "),
        (["import", "mnist", "nothing.gz"], "there is no file nothing.gz"),
        (["import", "ap-theta-k10", "surveys.py"], "has no raw format; give ap-theta-k10.npz"),
        (["import", "sonar", "surveys.py"], "is not the file that the catalog knows"),
        (["import", "szeged-weather", "surveys.py"], "cannot be read as weatherHistory.csv"),
        (["import", "mnist-like", "surveys.py"], "made on demand; there is nothing to import"),
        (["list", "--plugin", "nowhere.py"], "no plugin file 'nowhere.py'"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(line, words, message):
    done = line("data", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


SUITE = """
title = "Data"
seed = 1
repetitions = 2
plugins = ["bowls.py", "surveys.py"]
budget = {{ iterations = 2 }}

[[problem]]
use = "data-bowl"
dataset = {datasets}

[[optimizer]]
use = "slide"
"""


def test_workers_know_the_data_sets_of_plugins_and_their_parameters(line):
    line.write("data.toml", SUITE.format(datasets='["my-simulation", "my-simulation(count=9)", "sonar"]'))
    done = line("run", "data.toml", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    sizes = {row["problem"]: float(row["value"]) for row in line.records() if row["metric"] == "size"}
    assert sorted(sizes.values()) == [4.0, 9.0, 208.0]
    done = line("replay", "1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_trial_runs_again_when_its_data_changed(line):
    line.write("data.toml", SUITE.format(datasets='"sonar"'))
    assert line("run", "data.toml", "--no-report").returncode == 0
    # packed in another way the same data are the same
    np.savez_compressed(line.folder / "data" / "sonar.npz", X=np.zeros((208, 60)), y=np.ones(208, np.int8))
    listed = json.loads(line("run", "data.toml", "--dry-run", "--json").stdout)
    assert [trial["stored"] for trial in listed] == [True, True]
    np.savez(line.folder / "data" / "sonar.npz", X=np.ones((208, 60)), y=np.ones(208, np.int8))
    listed = json.loads(line("run", "data.toml", "--dry-run", "--json").stdout)
    assert [trial["stored"] for trial in listed] == [False, False]


def test_a_suite_without_its_data_stops_before_anything_runs(line):
    line.write("data.toml", SUITE.format(datasets='"mnist"'))
    done = line("run", "data.toml", "--no-report")
    assert done.returncode == 2
    assert "BENCHFW_OFFLINE forbids downloads" in done.stderr
    assert "mnist-like" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (line.folder / "reports").exists()


def test_an_unknown_data_set_stops_a_suite_with_the_nearest_name(line):
    line.write("data.toml", SUITE.format(datasets='"minst"'))
    done = line("run", "data.toml", "--no-report")
    assert done.returncode == 2
    assert "did you mean 'mnist'" in done.stderr


def test_missing_data_of_one_suite_stop_all_of_them_before_anything_runs(line):
    line.write("good.toml", SUITE.format(datasets='"my-simulation"'))
    line.write("bad.toml", SUITE.format(datasets='"mnist"'))
    done = line("run", "good.toml", "bad.toml", "--no-report")
    assert done.returncode == 2
    assert not (line.folder / "reports").exists()
