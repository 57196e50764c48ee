"""`benchfw data`: every verb, and one sentence with exit code 2 for every mistake."""

import json

import numpy as np
import pytest

PLUGIN = """
import numpy as np
from benchfw import CountedProblem, DatasetName, hookimpl
from benchfw.data import ArraySpec, Dataset, RawFile

HOME = "https://surveys.example.org"

def read(files):
    raise ValueError("it is not a survey")

DATASETS = [
    Dataset(
        "reeds",
        "Reeds of two kinds",
        {"X": ArraySpec((20, 6), "float64"), "y": ArraySpec((20,), "int8")},
        "Reed & Rush, 1988",
        "CC BY 4.0",
        (RawFile("reeds.csv", f"{HOME}/reeds.csv", "0" * 64),),
        read,
        twin="my-simulation",
    ),
    Dataset(
        "photos",
        "Photos",
        {"x": ArraySpec((3,), "float64")},
        licence="no redistribution",
        files=(RawFile("photos.gz", f"{HOME}/photos.gz"),),
        loader=read,
        twin="my-simulation(count=3)",
    ),
    Dataset(
        "letters",
        "Letters",
        {"x": ArraySpec((3,), "float64")},
        files=(RawFile("letters.csv"),),
        loader=read,
        by_hand="ask the writer",
    ),
    Dataset("grid", "A grid", {"x": ArraySpec((3,), "float64")}, by_hand="ask me"),
]

@hookimpl
def register_datasets(register):
    for each in DATASETS:
        register(each.name, each)
    register("my-simulation", simulate)

def simulate(count: int = 4):
    "A simulation."
    return {"x": np.ones((count, 2)), "y": np.arange(count) % 2}

@hookimpl
def register_problems(register):
    register("data-bowl", DataBowl)

class DataBowl(CountedProblem):
    def __init__(self, backend, rng, *, dataset: DatasetName = "my-simulation"):
        from benchfw.data import load

        self.backend = backend
        self.size = len(load(dataset)["y"])

    def start(self):
        return self.backend.xp.ones(self.size)

    def value(self, params):
        return float((params * params).sum())

    def grad(self, params):
        self._count(1)
        return 2 * params

    def project(self, params):
        return params

    def metrics(self, answer):
        return {"size": float(self.size)}
"""


REEDS = {"X": np.zeros((20, 6)), "y": np.ones(20, np.int8)}


@pytest.fixture
def line(cli):
    """The command line with an empty cache, a folder of data, a plugin with data sets, and no network."""
    cache, folder = cli.folder / "cache", cli.folder / "data"
    folder.mkdir()
    np.savez(folder / "mine.npz", x=np.arange(3.0), words=np.array(["a", "b"]))
    np.savez(folder / "reeds.npz", **REEDS)
    cli.environment |= {"BENCHFW_CACHE": str(cache), "BENCHFW_DATA": str(folder), "BENCHFW_OFFLINE": "1"}
    cli.write("surveys.py", PLUGIN)
    return cli


@pytest.fixture
def data(line):
    """`benchfw data` with the plugin."""
    return lambda *words: line("data", *words, "--plugin", "surveys.py")


def test_the_list_says_what_is_here_what_can_be_fetched_and_what_not(data):
    rows = {row["name"]: row for row in json.loads(data("list", "--json").stdout)}
    names = ("mine", "reeds", "photos", "letters", "my-simulation")
    assert {name: rows[name]["state"] for name in names} == {
        "mine": "here",
        "reeds": "here",
        "photos": "can be fetched",
        "letters": "by hand",
        "my-simulation": "made on demand",
    }
    assert rows["photos"]["address"].startswith("https://")
    text = data("list").stdout
    assert "no redistribution" in text
    assert "2 of " in text


def test_all_names_are_listed_with_the_others(line):
    done = line("list", "datasets", "--plugin", "surveys.py")
    assert done.returncode == 0
    rows = {row.split()[0]: row for row in done.stdout.splitlines()}
    assert "a file of yours (here)" in rows["mine"]
    assert rows["photos"].endswith("(can be fetched)")


def test_a_path_is_printed(line, data):
    assert data("path", "reeds").stdout.strip() == str(line.folder / "data" / "reeds.npz")


def test_show_gives_citation_licence_arrays_and_statistics(data):
    text = data("show", "reeds").stdout
    for part in (
        "Rush",
        "CC BY",
        "(20, 6) float64",
        "mean 1",
        "my-simulation",
        "https://surveys.example.org",
    ):
        assert part in text
    facts = json.loads(data("show", "mine", "--json").stdout)
    assert facts["here"]["arrays"]["x"]["max"] == 2
    assert "ask me" in data("show", "grid").stdout


def test_verify_says_what_was_checked(line, data):
    done = data("verify")
    assert done.returncode == 0, done.stderr
    assert "not in any catalog" in done.stdout
    np.savez(line.folder / "data" / "mine.npz", x=np.array([0.0, np.nan]))
    done = data("verify", "mine")
    assert done.returncode == 1
    assert "array 'x' has nan in row 1 (counted from 0)" in done.stdout
    (line.folder / "data" / "mine.npz").write_bytes(b"damaged")
    done = data("verify")
    assert done.returncode == 1
    assert "cannot be read" in done.stdout
    np.savez(line.folder / "data" / "reeds.npz", X=np.zeros((2, 6)), y=np.ones(2, np.int8))
    done = data("verify", "reeds", "--json")
    assert done.returncode == 1
    assert "(2, 6)" in json.loads(done.stdout)[0]["verdict"]


def test_import_places_a_file_and_says_what_was_checked(line, data):
    np.savez(line.folder / "letters.npz", x=np.zeros(3))
    done = data("import", "letters", "letters.npz")
    assert done.returncode == 0, done.stderr
    assert "shapes and types only" in done.stdout
    assert data("path", "letters").stdout.strip() == str(line.folder / "cache" / "letters.npz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fetch", "photos"], "BENCHFW_OFFLINE forbids downloads: https://surveys.example.org/photos.gz"),
        (["fetch", "letters"], "ask the writer"),
        (["fetch", "redes"], "did you mean 'reeds'"),
        (["fetch", "my-simulation"], "made on demand; there is nothing to fetch"),
        (["path", "photos"], 'synthetic stand-in: dataset = "my-simulation(count=3)"'),
        (["path", "mein"], "did you mean 'mine'"),
        (["show", "mein"], "the catalog has no data set 'mein'"),
        (["verify", "photos"], "is not in "),
        (["import", "photos", "nothing.gz"], "there is no file nothing.gz"),
        (["import", "grid", "surveys.py"], "has no raw format; give grid.npz"),
        (["import", "reeds", "surveys.py"], "is not the file in the catalog"),
        (["import", "letters", "surveys.py"], "cannot be read as letters.csv"),
        (["import", "my-simulation", "surveys.py"], "made on demand; there is nothing to import"),
        (["list", "--plugin", "nowhere.py"], "no plugin file 'nowhere.py'"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_2(data, words, message):
    done = data(*words)
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
    line.write("data.toml", SUITE.format(datasets='["my-simulation", "my-simulation(count=9)", "reeds"]'))
    done = line("run", "data.toml", "--no-report")
    assert done.returncode == 0, done.stdout + done.stderr
    sizes = {row["problem"]: float(row["value"]) for row in line.records() if row["metric"] == "size"}
    assert sorted(sizes.values()) == [4.0, 9.0, 20.0]
    done = line("replay", "1", "--plugin", "bowls.py", "--plugin", "surveys.py")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_a_trial_runs_again_when_its_data_changed(line):
    line.write("data.toml", SUITE.format(datasets='"reeds"'))
    assert line("run", "data.toml", "--no-report").returncode == 0
    # packed in another way the same data are the same
    np.savez_compressed(line.folder / "data" / "reeds.npz", **REEDS)
    listed = json.loads(line("run", "data.toml", "--dry-run", "--json").stdout)
    assert [trial["stored"] for trial in listed] == [True, True]
    np.savez(line.folder / "data" / "reeds.npz", **{**REEDS, "X": np.ones((20, 6))})
    listed = json.loads(line("run", "data.toml", "--dry-run", "--json").stdout)
    assert [trial["stored"] for trial in listed] == [False, False]


def test_a_suite_without_its_data_stops_before_anything_runs(line):
    line.write("data.toml", SUITE.format(datasets='"photos"'))
    done = line("run", "data.toml", "--no-report")
    assert done.returncode == 2
    assert "BENCHFW_OFFLINE forbids downloads" in done.stderr
    assert "my-simulation(count=3)" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (line.folder / "reports").exists()


def test_a_known_set_that_is_not_here_may_be_planned(line):
    line.write("data.toml", SUITE.format(datasets='"photos"'))
    assert line("run", "data.toml", "--dry-run").returncode == 0


def test_a_part_of_a_suite_is_run_where_the_data_of_the_others_are_unknown(line):
    line.write("data.toml", SUITE.format(datasets='["my-simulation", "private"]'))
    assert line("run", "data.toml", "--dry-run", "--only", "my-simulation").returncode == 0
    done = line("run", "data.toml", "--no-report", "--only", "private")
    assert done.returncode == 2
    assert "no data set 'private'" in done.stderr


def test_missing_data_of_one_suite_stop_all_of_them_before_anything_runs(line):
    line.write("good.toml", SUITE.format(datasets='"my-simulation"'))
    line.write("bad.toml", SUITE.format(datasets='"photos"'))
    done = line("run", "good.toml", "bad.toml", "--no-report")
    assert done.returncode == 2
    assert not (line.folder / "reports").exists()
