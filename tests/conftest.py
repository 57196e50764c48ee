"""A toy plugin of one file with a helper beside it, a trial of it, and a stopped clock."""

import importlib.util
import os
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from benchfw.harness import identity
from benchfw.measure import clock
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Registry
from benchfw.sources import Modules

HELPER = '''"""Helps."""

FACTOR = 1.0
'''

PLUGINS = Path(__file__).parent / "plugins"
TOYS = (PLUGINS / "toys.py").read_text(encoding="utf-8")


def pytest_collection_modifyitems(items):
    """Skip what needs the families where benchfw is installed alone, and what Windows does not have."""
    if not hasattr(os, "fork"):
        for item in items:
            if item.get_closest_marker("posix"):
                item.add_marker(pytest.mark.skip("this system has no fork"))
    if importlib.util.find_spec("benchfw_firstorder") is None:
        for item in items:
            if item.get_closest_marker("families"):
                item.add_marker(pytest.mark.skip("the packages of methods are not installed"))


@pytest.fixture(scope="session", autouse=True)
def own_closure():
    """Hash benchfw's own modules once: nobody edits them while tests run in this process."""
    found = identity.core_closure(Modules(hashed=["benchfw"]))
    with mock.patch.object(identity, "core_closure", return_value=found):
        yield


@pytest.fixture
def plugin_file(tmp_path, monkeypatch):
    """Return a function that writes a plugin file; what it makes Python import is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)

    def write(text=TOYS, name="toys.py"):
        path = Path(tmp_path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    for name, module in list(sys.modules.items()):
        if name not in before and str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def toys(plugin_file):
    """The file of the toy plugin."""
    plugin_file(HELPER, "toy_helper.py")
    return plugin_file()


@pytest.fixture
def registry(toys):
    """A registry with the toys in it."""
    return Registry([str(toys)])


@pytest.fixture
def make_trial():
    """Return a function that makes a trial of the slide on the bowl, changed as asked."""

    def make(**changes):
        given = {
            "kind": "optimizer",
            "problem": Spec("bowl", {"size": 2}, "bowl"),
            "method": Spec("slide", {"step": 0.5}, "slide"),
            "backend": "numpy",
            "repetition": 0,
            "seed": 7,
            "budget": Budget(iterations=10),
        }
        return Trial(**{**given, **changes})

    return make


@pytest.fixture
def slept(monkeypatch):
    """Stop the clocks of trials: they go on only by what sleeps, and nothing really sleeps."""
    moments = [0.0]
    for name in ("_host_timer", "perf_counter"):
        monkeypatch.setattr(clock, name, lambda: moments[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: moments.__setitem__(0, moments[0] + seconds))
