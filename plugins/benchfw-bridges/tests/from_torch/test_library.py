"""Where torch is missing or broken, what needs it is skipped with what to install."""

from __future__ import annotations

import builtins
import sys

import pytest

from benchfw import Unavailable
from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.registry import Registry
from benchfw_bridges.from_torch.library import import_torch

TABLE = {"module": "torch.nn:Linear", "loss": "torch.nn.functional:mse_loss", "dataset": "uci-like"}


@pytest.fixture
def absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def test_what_needs_torch_says_what_to_install(absent):
    registry = Registry()
    words = r"^torch is not installed; pip install 'benchfw-bridges\[torch\]'$"
    numpy = get_backend("numpy")
    with pytest.raises(Unavailable, match=words):
        registry.build("optimizer", {"use": "torch-optim", "name": "Adam"})
    with pytest.raises(Unavailable, match=words):
        registry.build("problem", {"use": "torch-module", **TABLE}, numpy, numpy.rng(1))
    for name in ("torch", "torch-cuda"):
        with pytest.raises(BackendUnavailable, match=words):
            registry.backends.get(name)


def test_a_torch_that_cannot_be_imported_is_not_called_missing(monkeypatch):
    plain_import = builtins.__import__

    def broken_import(name, *args, **options):
        if name == "torch":
            raise ImportError("libgomp.so: cannot open shared object file\nmore")
        return plain_import(name, *args, **options)

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(builtins, "__import__", broken_import)
    with pytest.raises(Unavailable) as raised:
        import_torch()
    said = "torch is installed but cannot be imported (libgomp.so: cannot open shared object file); "
    assert str(raised.value).startswith(said)


def test_trials_on_a_gpu_have_a_device_each_also_where_there_is_none(absent):
    assert Registry().backends.on_device("torch-cuda")
    assert not Registry().backends.on_device("torch")
