"""The catalog: complete, honest, cheap to list, and open to plugins."""

import contextlib
import re
import subprocess
import sys

import pytest

from benchfw import data
from benchfw.data.access import imported
from benchfw.data.download import refuse_insecure
from benchfw.data.known import catalog, spelled_out
from benchfw.errors import DataError, PluginError
from benchfw.parameters import parameters_of
from benchfw.registry import Registry

REAL = [entry for entry in catalog().values() if entry.make is None]
MADE = [entry for entry in catalog().values() if entry.make is not None]
NAMES = {
    *("movielens-100k", "movielens-1m", "movielens-10m", "sound", "szeged-weather", "sonar", "ionosphere"),
    *(
        "usps-2vs4",
        "usps-3vs5",
        "ap",
        "nips",
        "ap-theta-k10",
        "nips-theta-k10",
        "mnist",
        "mnist-8m",
        "cifar10",
    ),
    *("cifar10-pca100", "epsilon", "year-msd", "year-msd-sample", "adult", "covtype", "uci-bike", "uci-pol"),
    *("uci-elevators", "uci-keggundirected", "uci-kin40k", "uci-protein"),
}


def named(entry):
    return entry.name


def test_all_the_sets_of_the_papers_are_there():
    assert {entry.name for entry in REAL} == NAMES


@pytest.mark.parametrize("entry", REAL, ids=named)
def test_an_entry_says_what_it_is_and_how_to_get_it(entry):
    assert entry.title
    assert entry.citation
    assert entry.licence
    assert entry.arrays
    assert entry.bytes > 0
    assert entry.fetchable or entry.by_hand
    assert bool(entry.files) == bool(entry.loader)
    if isinstance(entry.loader, str):
        assert callable(imported(entry.name, entry.loader))
    for file in entry.files:
        if file.url:
            refuse_insecure(file.url)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
    for digest in entry.contents:
        assert re.fullmatch("[0-9a-f]{64}", digest)
    assert entry.contents or not entry.sealed


@pytest.mark.parametrize("entry", REAL, ids=named)
def test_an_entry_names_a_stand_in_that_can_be_made(entry):
    name, params = spelled_out(entry.twin)
    twin = data.dataset(name)
    assert twin.title.startswith("synthetic")
    assert set(params) <= set(parameters_of(imported(name, twin.make)))


def test_movielens_may_not_be_passed_on():
    assert not data.dataset("movielens-1m").redistributable
    assert "no redistribution" in data.dataset("movielens-1m").licence


@pytest.mark.parametrize(
    "words", [["data", "list"], ["list"], ["list", "datasets"], ["data", "list", "--json"]]
)
def test_listing_imports_nothing_heavy(words):
    code = (
        "import sys\nfrom benchfw.cli import cli\n"
        f"cli.main({words!r}, standalone_mode=False)\n"
        "print('loaded:', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.rpartition("loaded:")[2].split()}
    heavy = {"numpy", "scipy", "pandas", "pooch", "requests", "urllib3", "rich", "sklearn"}
    assert not loaded & heavy


def test_a_name_may_carry_parameters():
    assert spelled_out("movielens-like(users=20, noise=0.5)") == (
        "movielens-like",
        {"users": 20, "noise": 0.5},
    )
    assert spelled_out("sonar") == ("sonar", {})
    assert spelled_out(" a ( b = 'c' ) ", {"d": 1}) == ("a", {"b": "c", "d": 1})


@pytest.mark.parametrize(
    "text", ["", " ", "(a=1)", "a(1)", "a(b=c)", "a(b=)", "a(", "a(b=1)x", "a(b=open('x'))"]
)
def test_a_name_that_cannot_be_read_is_a_data_error(text):
    with pytest.raises(DataError, match=r"names no data set|cannot be read"):
        spelled_out(text)


def test_a_file_of_the_users_own_may_have_any_name(cache, tmp_path, monkeypatch):
    import numpy as np

    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    for name in ("my data", "copy (1)", "v1.2"):
        np.savez(tmp_path / f"{name}.npz", x=np.ones(3))
        assert data.load(name)["x"].sum() == 3


def test_an_unknown_name_is_told_with_the_nearest_one(cache):
    with pytest.raises(DataError, match="no data set 'sonra'; did you mean 'sonar'"):
        data.dataset("sonra")


PLUGIN = """
import numpy as np
from benchfw import hookimpl
from benchfw.data import ArraySpec, Dataset

SURVEY = Dataset("my-survey", "A survey", {{"x": ArraySpec((3,), "float64")}})

def simulate(count: int = 4):
    "A simulation."
    return {{"x": np.arange(count)}}

@hookimpl
def register_datasets(register):
    register("my-survey", SURVEY)
    register("my-simulation", simulate)
    {more}
"""


@pytest.fixture
def plugin(tmp_path, cache):
    def write(more=""):
        path = tmp_path / "surveys.py"
        path.write_text(PLUGIN.format(more=more))
        return Registry([str(path)])

    return write


@pytest.fixture
def use(plugin):
    """Activate the plugin's registry for a test."""
    with contextlib.ExitStack() as stack:
        yield lambda more="": stack.enter_context(plugin(more).activate())


def test_plugins_add_data_sets(use):
    use()
    assert data.dataset("my-survey").title == "A survey"
    assert data.dataset("my-simulation").title == "A simulation."
    assert {"my-survey", "my-simulation", "sonar"} <= data.catalog().keys()
    assert len(data.load("my-simulation(count=7)")["x"]) == 7
    assert data.fingerprint("my-simulation") != data.fingerprint("my-simulation(count=7)")


def test_a_registered_data_set_is_a_factory_like_the_others(plugin):
    registry = plugin()
    assert registry.get("dataset", "my-survey").summary == "A survey"
    assert registry.get("dataset", "my-survey").parameters == {}


def test_a_plugin_may_not_take_a_name_of_the_catalog(plugin):
    with pytest.raises(PluginError, match="two plugins register the dataset 'sonar'"):
        plugin("register('sonar', simulate)")


def test_data_sets_are_known_while_their_registry_is_active(plugin):
    with plugin().activate():
        data.dataset("my-survey")
    with pytest.raises(DataError, match="no data set 'my-survey'"):
        data.dataset("my-survey")


def test_a_thing_that_is_no_data_set_is_explained_when_it_is_asked_for(use):
    use("register('odd', 'numpy:pi')")
    assert "odd" not in data.catalog()
    with pytest.raises(PluginError, match=r"'odd'.*register a Dataset, or a function"):
        data.dataset("odd")
