"""A key changes with all that determines a trial's records, and with nothing else."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from benchfw.harness.identity import Identity
from benchfw.records import Budget, Spec
from benchfw.registry import Registry

DEVICES = {"numpy": {"device": "cpu", "numpy": "2.0"}, "cupy": {"device": "gpu"}}
NESTED = Spec("slide", {"estimator": {"use": "other"}}, "slide")
OTHER = """from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class Other:
    solves = Smooth

@hookimpl
def register_estimators(register):
    register("other", Other)
"""


@pytest.fixture
def key(toys):
    """Return a function that gives the key of a trial, from a registry made anew."""

    def key_of(trial, devices=None, threads=1, plugins=()):
        registry = Registry([str(toys), *map(str, plugins)])
        return Identity(registry, devices or DEVICES, threads).stamp(trial)[1](trial.repetition)

    return key_of


def test_labels_do_not_change_the_key(key, make_trial):
    trial = make_trial()
    renamed = replace(
        trial, problem=replace(trial.problem, label="x"), method=replace(trial.method, label="y"), key="old"
    )
    assert key(renamed) == key(trial)


def test_the_order_of_parameters_does_not_change_the_key(key, make_trial):
    one = make_trial(method=Spec("slide", {"step": 0.5, "mode": "fast"}))
    other = make_trial(method=Spec("slide", {"mode": "fast", "step": 0.5}))
    assert key(one) == key(other)


@pytest.mark.parametrize(
    "change",
    [
        {"repetition": 1},
        {"seed": 8},
        {"backend": "cupy"},
        {"budget": Budget(iterations=11)},
        {"budget": Budget(iterations=10, seconds=1.0)},
        {"budget": Budget(iterations=10, cost=1.0)},
        {"target": {"gap": 1.0}},
        {"precision": 0.1},
        {"at": "optimum"},
        {"problem": Spec("bowl", {"size": 3})},
        {"method": Spec("slide", {"step": 0.25})},
        {"method": Spec("needy", {"step": 0.5})},
    ],
)
def test_every_coordinate_changes_the_key(key, make_trial, change):
    assert key(make_trial(**change)) != key(make_trial())


def test_threads_device_and_library_versions_change_the_key(key, make_trial):
    before = key(make_trial())
    assert key(make_trial(), threads=2) != before
    assert key(make_trial(), devices={"numpy": {"device": "cpu 2", "numpy": "2.0"}}) != before
    assert key(make_trial(), devices={"numpy": {"device": "cpu", "numpy": "2.1"}}) != before


def test_another_backends_device_does_not_change_the_key(key, make_trial):
    assert key(make_trial(), devices={"numpy": DEVICES["numpy"]}) == key(make_trial())


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("toy_helper.py", "FACTOR = 1.0", "FACTOR = 2.0", False),
        ("toys.py", "params - self.optimum\n", "params - 2 * self.optimum\n", False),
        ("toy_helper.py", "FACTOR = 1.0", "FACTOR = 1.0  # one", True),
        ("toys.py", '"""Gradient descent."""', '"""Descent."""', True),
    ],
)
def test_an_edit_changes_the_key_at_once_also_in_a_notebook_and_a_comment_does_not(
    key, make_trial, toys, file, old, new, same
):
    before = key(make_trial())
    path = toys.parent / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert (key(make_trial()) == before) is same


def test_an_edit_of_a_nested_estimators_plugin_changes_the_key(key, make_trial, plugin_file):
    trial = make_trial(method=NESTED)
    one = plugin_file(OTHER, "one/other.py")
    two = plugin_file(OTHER, "two/other.py")
    three = plugin_file(OTHER + "\nCONSTANT = 1\n", "three/other.py")
    assert key(trial, plugins=[one]) == key(trial, plugins=[two])
    assert key(trial, plugins=[one]) != key(trial, plugins=[three])


def test_a_plugin_that_is_not_involved_does_not_change_the_key(key, make_trial, plugin_file):
    assert key(make_trial(), plugins=[plugin_file(OTHER, "other.py")]) == key(make_trial())


def test_the_file_of_a_data_set_changes_the_key(key, make_trial, tmp_path, monkeypatch):
    trial = make_trial(problem=Spec("bowl", {"dataset": "iris"}))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    absent = key(trial)
    np.savez(tmp_path / "iris.npz", x=np.ones(2))
    first = key(trial)
    np.savez(tmp_path / "iris.npz", x=np.ones(3))
    assert len({absent, first, key(trial)}) == 3


def test_a_kernel_has_a_key_for_each_size(key, make_trial):
    trials = [
        make_trial(kind="kernel", problem=Spec("size", {"size": n}), method=Spec("column-dots"))
        for n in (10, 20)
    ]
    assert key(trials[0]) != key(trials[1])


SCRIPT = """
from benchfw.harness.identity import Identity
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry

trial = Trial("kernel", Spec("size", {"size": 10}), Spec("gaussian-gram"), "numpy", 0, 0, Budget())
print(Identity(Registry(), {"numpy": {}}, 1).stamp(trial)[1](trial.repetition))
"""


def test_a_trial_has_one_key_in_every_process():
    keys = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(keys) == 1


READER = """from dataclasses import dataclass
from pathlib import Path
from benchfw import LocalPath, Problem, hookimpl

@dataclass(frozen=True)
class Reader:
    folder: LocalPath
    name: str = "one"
    solves = Problem

    @staticmethod
    def source_files(folder, name="one"):
        return [Path(folder, f"{name}.py"), Path(folder, "shared", f"{name}.py")]

    def run(self, problem, rng):
        yield 0

@hookimpl
def register_optimizers(register):
    register("reader", Reader)
"""


@pytest.fixture
def reader_key(key, make_trial, plugin_file):
    """Return a function that gives the key of a method whose source is in files of a folder."""
    plugin = plugin_file(READER, "reader.py")

    def key_of(folder, name="one"):
        return key(make_trial(method=Spec("reader", {"folder": str(folder), "name": name})), plugins=[plugin])

    return key_of


@pytest.fixture
def folder(tmp_path_factory):
    """Return a folder with two files, and two of the same names in another inside."""
    made = tmp_path_factory.mktemp("elsewhere") / "folder"
    for name in ("one.py", "two.py", "shared/one.py", "shared/two.py"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("x = 1\n", encoding="utf-8")
    return made


@pytest.mark.parametrize("edited", ["one.py", "shared/one.py"])
def test_the_files_that_a_factory_names_are_in_the_key_of_its_trials_only(reader_key, folder, edited):
    one, two = reader_key(folder, "one"), reader_key(folder, "two")
    (folder / edited).write_text("x = 2\n", encoding="utf-8")
    assert reader_key(folder, "one") != one
    assert reader_key(folder, "two") == two


def test_where_the_files_of_a_factory_lie_is_not_in_the_key(reader_key, folder):
    before = reader_key(folder)
    assert reader_key(folder.rename(folder.with_name("moved"))) == before
