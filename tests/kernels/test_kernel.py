"""A kernel runs the body of the backend its arguments live on, and looks like the function it wraps."""

from __future__ import annotations

import inspect
import pickle
import pydoc

import array_api_strict
import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import PluginError
from benchfw.kernels import Kernel, column_dots, kernel, namespace
from benchfw.registry import Registry


def described(**bodies: str) -> Kernel:
    """Return a kernel whose bodies return their own names."""

    @kernel("described")
    def portable(x, y=None, *, option=1):
        """Say which body ran."""
        return "portable"

    for backend, answer in bodies.items():
        portable.on(backend)(lambda x, y=None, *, option=1, answer=answer: answer)
    return portable


PLUGIN = """from types import SimpleNamespace
from benchfw import hookimpl
from benchfw.testing.checks.portability import StrictBackend

class MyDevice(StrictBackend):
    name = "my-device"

    def __init__(self):
        super().__init__()
        self.xp = SimpleNamespace(__name__="array_api_strict", asarray=self.xp.asarray)

@hookimpl
def register_backends(register):
    register("my-device", MyDevice)
"""


@pytest.fixture
def on_device(plugin_file):
    """Activate a plugin that adds a backend; return an array that lives on it."""
    with Registry([str(plugin_file(PLUGIN, "my_device.py"))]).activate():
        yield get_backend("my-device").asarray([1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "keywords", "answer"),
    [
        ((np.zeros(3),), {}, "numpy"),
        ((np.ma.zeros(3),), {}, "numpy"),
        ((None, np.zeros(3)), {}, "numpy"),
        ((), {"x": np.zeros(3)}, "numpy"),
        ((2.0,), {"y": np.zeros(3), "option": 3}, "numpy"),
        ((array_api_strict.zeros(3),), {}, "portable"),
    ],
)
def test_the_first_array_decides_wherever_it_stands(arguments, keywords, answer):
    assert described(numpy="numpy", cupy="cupy")(*arguments, **keywords) == answer


def test_arrays_of_a_plugins_backend_run_its_body(on_device):
    described_there = described(numpy="numpy", **{"my-device": "mine"})
    assert described_there(on_device) == "mine"
    assert described_there(x=on_device) == "mine"
    assert described_there(np.zeros(3)) == "numpy"


def test_a_plugins_backend_ends_with_its_registry(on_device):
    described_there = described(**{"my-device": "mine"})
    assert described_there(on_device) == "mine"
    with Registry().activate():
        assert described_there(on_device) == "portable"


def test_a_backend_without_a_body_runs_the_portable_one(on_device):
    assert described(cupy="cupy")(np.zeros(3)) == "portable"
    assert described(numpy="numpy")(on_device) == "portable"


def test_a_portable_body_computes_with_the_functions_of_the_plugins_backend(on_device):
    assert namespace(on_device) is get_backend("my-device").xp
    assert namespace(array_api_strict.zeros(3)) is namespace(on_device)
    with Registry().activate():
        assert namespace(on_device) is array_api_strict


def test_numbers_before_the_first_array_do_not_decide(on_device):
    both = described(numpy="numpy", **{"my-device": "mine"})
    assert both(2.0, on_device) == "mine"
    assert both(np.float64(2.0), on_device) == "mine"


@pytest.mark.parametrize("arguments", [(), (2.0,), ([1.0, 2.0],), (np.float64(1.0),)])
def test_a_call_without_an_array_is_refused(arguments):
    with pytest.raises(TypeError, match="'described' was called without an array"):
        described(numpy="numpy")(*arguments)


def test_a_body_added_after_a_call_is_found():
    late = described()
    assert late(np.zeros(3)) == "portable"
    late.on("numpy")(lambda x: "numpy")
    assert late(np.zeros(3)) == "numpy"


def test_two_bodies_for_one_backend_are_an_error_that_names_both():
    with pytest.raises(PluginError, match="kernel 'described' already has a body for numpy"):
        described(numpy="numpy").on("numpy")


def test_bodies_are_listed_and_cannot_be_changed_from_outside():
    listed = described(numpy="numpy").bodies
    assert list(listed) == ["numpy"]
    with pytest.raises(TypeError):
        listed["cupy"] = print


def test_adding_a_body_returns_it_unchanged():
    def body(x):
        return x

    assert described().on("numpy")(body) is body


def test_help_and_signature_are_those_of_the_portable_body():
    assert inspect.signature(column_dots) == inspect.signature(column_dots.portable)
    assert "inner products" in pydoc.render_doc(column_dots)
    assert column_dots.__doc__ == column_dots.portable.__doc__
    assert column_dots.__wrapped__ is column_dots.portable


def test_a_kernel_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(column_dots)) is column_dots


def test_a_kernel_shows_its_name_and_bodies():
    assert repr(described(numpy="numpy")) == "<kernel described: portable, numpy>"


def test_declared_counts_are_kept():
    x = np.zeros((100, 10), dtype=np.float32)
    assert column_dots.counts(x, x) == (2000.0, 8000.0)
    assert described().counts is None
