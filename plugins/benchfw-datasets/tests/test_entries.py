"""The entries: complete, honest, in step with the names that are registered, and cheap to list."""

import importlib
import re
import subprocess
import sys

import numpy as np
import pytest

from benchfw import data
from benchfw.data import Dataset, parse_dataset_name, resolve_function
from benchfw.data.download import refuse_insecure
from benchfw.parameters import parameters_of
from benchfw_datasets import DATASETS

ENTRIES = {
    file: [
        value
        for value in vars(importlib.import_module(f"benchfw_datasets.entries.{file}")).values()
        if isinstance(value, Dataset)
    ]
    for file in DATASETS
}
REAL = [entry for entries in ENTRIES.values() for entry in entries if entry.make is None]


@pytest.mark.parametrize("file", DATASETS)
def test_the_registered_names_are_those_of_the_entries(file):
    assert sorted(entry.name for entry in ENTRIES[file]) == sorted(DATASETS[file].split())


def test_every_entry_is_found_by_its_name():
    found = data.registered_datasets()
    assert [found[entry.name] for entries in ENTRIES.values() for entry in entries] == [
        entry for entries in ENTRIES.values() for entry in entries
    ]


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.name)
def test_an_entry_says_what_it_is_and_how_to_get_it(entry):
    assert entry.title
    assert entry.citation
    assert entry.licence
    assert entry.arrays
    assert entry.bytes > 0
    assert entry.fetchable or entry.by_hand
    assert bool(entry.files) == bool(entry.loader)
    if entry.loader is not None:
        assert callable(resolve_function(entry.name, entry.loader))
    for file in entry.files:
        if file.url:
            refuse_insecure(file.url)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
    for digest in entry.contents:
        assert re.fullmatch("[0-9a-f]{64}", digest)
    assert entry.contents or not entry.sealed


@pytest.mark.parametrize("entry", REAL, ids=lambda entry: entry.name)
def test_an_entry_names_a_stand_in_that_can_be_made(entry):
    name, params = parse_dataset_name(entry.twin)
    twin = data.get_dataset(name)
    assert twin.title.startswith("synthetic")
    assert set(params) <= set(parameters_of(resolve_function(name, twin.make)))


def test_movielens_may_not_be_passed_on():
    assert not data.get_dataset("movielens-1m").redistributable
    assert "no redistribution" in data.get_dataset("movielens-1m").licence


@pytest.mark.parametrize(
    ("name", "arrays", "sizes"),
    [
        ("movielens-100k", {"rating": np.zeros(100_000)}, (90_000, 10_000)),
        ("sonar", {"y": np.array([1] * 111 + [-1] * 97, np.int8)}, (165, 43)),
        ("year-msd", {"y": np.zeros(515_345, np.int16)}, (463_715, 51_630)),
        ("szeged-weather", {"unix_time": np.zeros(96_453)}, (16_930, 590)),
        ("ap", {"indptr": np.arange(2247)}, (1123, 1123)),
    ],
)
def test_a_set_without_a_stored_split_follows_its_papers(name, arrays, sizes):
    parts = data.split(name, arrays=arrays)
    assert (len(parts.train), len(parts.test)) == sizes


@pytest.mark.parametrize(
    "words", [["data", "list"], ["list"], ["list", "datasets"], ["data", "list", "--json"]]
)
def test_listing_imports_nothing_heavy(words):
    loaded = modules_after(words)
    heavy = {"numpy", "scipy", "pandas", "pooch", "requests", "urllib3", "rich", "sklearn"}
    assert not {name.partition(".")[0] for name in loaded} & heavy


@pytest.mark.parametrize("words", [["list", "optimizers"], ["list"]])
def test_no_entry_is_imported_before_a_data_set_is_asked_for(words):
    assert not {name for name in modules_after(words) if name.startswith("benchfw_datasets.")}


def modules_after(words):
    """Return the modules that a command has imported."""
    code = (
        "import sys\nfrom benchfw.cli import cli\n"
        f"cli.main({words!r}, standalone_mode=False)\n"
        "print('loaded:', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.rpartition("loaded:")[2].split()
