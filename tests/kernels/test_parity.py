"""Every registered kernel: its bodies agree, and the portable one is strict array-API code."""

from __future__ import annotations

import pytest

from benchfw import kernels
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
    for name, entry in Registry().entries("kernel").items():
        assert entry.factory.name == name
