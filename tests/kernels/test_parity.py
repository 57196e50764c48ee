"""Every registered kernel: its bodies agree, and the portable one is strict array-API code."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import kernels
from benchfw.backends import get_backend
from benchfw.registry import Registry
from benchfw.testing import Effort, checks_for, subjects_of
from benchfw.testing.pytest_plugin import BoundCheck

ENTRIES = Registry().entries("kernel").values()
CHECKS = [
    BoundCheck(subject, check)
    for plugin in sorted({entry.plugin.name for entry in ENTRIES})
    for subject in subjects_of(plugin, effort=Effort(seconds=1.0, iterations=200))
    if subject.kind == "kernel"
    for check in checks_for("kernel")
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_a_kernel_passes_the_conformance_checks(check):
    check()


def test_every_exported_kernel_is_registered():
    exported = {name for name in kernels.__all__ if isinstance(getattr(kernels, name), kernels.Kernel)}
    own = [entry.factory for entry in ENTRIES if entry.plugin.distribution == "benchfw"]
    assert exported == {kernel.portable.__name__ for kernel in own}


def test_a_kernel_registered_by_place_is_listed_under_its_own_name():
    assert ENTRIES
    for name, entry in Registry().entries("kernel").items():
        assert entry.factory.name == name


def entries_in(value):
    """Yield the number of entries of each array in a value, however deep it is."""
    if isinstance(value, np.ndarray):
        yield value.size
    elif hasattr(value, "nnz"):
        yield value.nnz
    else:
        for part in value if isinstance(value, list | tuple) else getattr(value, "__dict__", {}).values():
            yield from entries_in(part)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_size_of_a_sample_is_that_of_the_largest_argument_or_result(entry):
    backend = get_backend("numpy")
    for size in (10_000, 40_000):
        arguments = entry.sample(backend, backend.rng(1), size)
        argument, result = (
            max(entries_in([*each]), default=0) for each in (arguments, [entry.factory(*arguments)])
        )
        assert size / 2 <= (argument if argument >= size / 2 else result) <= 2 * size
