"""A cache of the test's own, away from the folders that the tests of real files read."""

import os

import pytest

REAL_FOLDERS = os.environ.get("BENCHFW_DATA", "")
"""What BENCHFW_DATA was at the start: the tests of real files want it, no other test may see it."""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache and no folders."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BENCHFW_CACHE", str(folder))
    for variable in ("BENCHFW_DATA", "BENCHFW_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def real(cache, monkeypatch, request):
    """The folders of real files, if they have the one that the test is about."""
    if not REAL_FOLDERS:
        pytest.skip("BENCHFW_DATA is not set")
    monkeypatch.setenv("BENCHFW_DATA", REAL_FOLDERS)
    from benchfw.data import locate

    name = request.node.callspec.params["name"]
    if locate(name) is None:
        pytest.skip(f"{name}.npz is in no folder of BENCHFW_DATA")
