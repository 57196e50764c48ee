"""The catalog: names with parameters, the nearest name for a wrong one, and plugins that fill it."""

import numpy as np
import pytest

from benchfw import data
from benchfw.data import parse_dataset_name, resolve_function
from benchfw.data.catalog import find_synthetic
from benchfw.errors import DataError, PluginError
from benchfw.registry import Registry


def test_a_name_may_carry_parameters():
    assert parse_dataset_name("flowers-like(rows=20, noise=0.5)") == (
        "flowers-like",
        {"rows": 20, "noise": 0.5},
    )
    assert parse_dataset_name("flowers") == ("flowers", {})
    assert parse_dataset_name(" a ( b = 'c' ) ", {"d": 1}) == ("a", {"b": "c", "d": 1})


@pytest.mark.parametrize(
    "text", ["", " ", "(a=1)", "a(1)", "a(b=c)", "a(b=)", "a(", "a(b=1)x", "a(b=open('x'))"]
)
def test_a_name_that_cannot_be_read_is_a_data_error(text):
    with pytest.raises(DataError, match=r"does not name a data set|cannot be read"):
        parse_dataset_name(text)


def test_a_file_of_the_users_own_may_have_any_name(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    for name in ("my data", "copy (1)", "v1.2"):
        np.savez(tmp_path / f"{name}.npz", x=np.ones(3))
        assert data.load(name)["x"].sum() == 3


def test_an_unknown_name_is_answered_with_the_nearest_one(cache):
    with pytest.raises(DataError, match="no data set 'flowesr'; did you mean 'flowers'"):
        data.get_dataset("flowesr")
    with pytest.raises(DataError, match="no plugin registers it; did you mean 'flowers'"):
        data.load("flowesr")


def test_without_any_catalog_an_unknown_name_says_what_can_be_done(cache, register):
    register()
    with pytest.raises(DataError, match="no data set 'flowers'; no plugin that is installed registers any"):
        data.get_dataset("flowers")
    with pytest.raises(
        DataError, match=r"and no plugin registers it; put flowers\.npz into a folder of BENCH"
    ):
        data.load("flowers")


def test_a_wrong_address_of_a_function_is_a_plugin_error():
    for address in ("nowhere:read", "benchfw.data:nothing", "benchfw.data", ":"):
        with pytest.raises(PluginError, match=r"'flowers'.*cannot be imported"):
            resolve_function("flowers", address)


def test_a_synthetic_stream_tells_all_its_parameters(cache):
    assert data.stream_parameters("walk-like(seed=3)") == {"rows": 90, "source": "flowers", "seed": 3}
    assert data.stream_parameters("flowers-like") is None
    assert data.stream_parameters("mine") is None
    assert data.is_synthetic("flowers-like(rows=3)")
    assert not data.is_synthetic("flowers")
    assert not data.is_synthetic("mine")
    found = find_synthetic(["flowers-like(rows=3)", "flowers", "a synthetic name", "x(y"])
    assert found == ["flowers-like"]


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
def plugin(tmp_path, monkeypatch):
    """Return a function that writes the plugin and gives a registry that has it."""
    monkeypatch.setenv("BENCHFW_CACHE", str(tmp_path / "cache"))

    def write(more=""):
        path = tmp_path / "surveys.py"
        path.write_text(PLUGIN.format(more=more))
        return Registry([str(path)])

    return write


def test_plugins_add_data_sets(plugin):
    with plugin().activate():
        assert data.get_dataset("my-survey").title == "A survey"
        assert data.get_dataset("my-simulation").title == "A simulation."
        assert {"my-survey", "my-simulation"} <= data.registered_datasets().keys()
        assert len(data.load("my-simulation(count=7)")["x"]) == 7
        assert data.fingerprint("my-simulation") != data.fingerprint("my-simulation(count=7)")


def test_data_sets_are_known_while_their_registry_is_active(plugin):
    with plugin().activate():
        data.get_dataset("my-survey")
    with pytest.raises(DataError, match="no data set 'my-survey'"):
        data.get_dataset("my-survey")


def test_a_registered_data_set_has_a_summary_like_the_others(plugin):
    registry = plugin()
    assert registry.get("dataset", "my-survey").summary == "A survey"
    assert registry.get("dataset", "my-survey").parameters == {}


def test_two_plugins_may_not_register_one_name(plugin):
    with pytest.raises(PluginError, match="two plugins register the dataset 'my-survey'"):
        plugin("register('my-survey', simulate)")


def test_a_thing_that_is_not_a_data_set_is_reported_when_it_is_asked_for(plugin):
    with plugin("register('odd', 'numpy:pi'); register('even', 2)").activate():
        for name in ("odd", "even"):
            assert name not in data.registered_datasets()
            with pytest.raises(PluginError, match=rf"'{name}'.*register a Dataset, or a function"):
                data.get_dataset(name)
