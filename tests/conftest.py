"""What tests of the core skip, and a stopped clock."""

import importlib.util
import os
import time
from unittest import mock

import pytest

from benchfw.harness import identity
from benchfw.measure import clock
from benchfw.sources import Modules


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
def slept(monkeypatch):
    """Stop the clocks of trials: they go on only by what sleeps, and nothing really sleeps."""
    moments = [0.0]
    for name in ("_host_timer", "perf_counter"):
        monkeypatch.setattr(clock, name, lambda: moments[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: moments.__setitem__(0, moments[0] + seconds))
