"""Names by place: what a package with many methods registers and exports without importing it.

A place is "module:attribute", the module counted from the package.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def register_places(register: Callable[[str, str], None], package: str, places: Mapping[str, str]) -> None:
    """Register every name with its place in the package."""
    for name, place in places.items():
        register(name, f"{package}.{place}")


def register_kernel_places(
    register: Callable[[str, str], None], package: str, kernels: Mapping[str, Iterable[str]]
) -> None:
    """Register kernels by the files of the package's `kernels` folder, each with its `sample_NAME`."""
    for file, names in kernels.items():
        for name in names:
            register(f"{package}.kernels.{file}:{name}", f"{package}.kernels.{file}:sample_{name}")


def attributes_at(package: str, *places: Iterable[str]) -> Callable[[str], Any]:
    """Return the package's `__getattr__`, which imports an attribute from its place when it is first used."""
    homes = {
        attribute: module
        for group in places
        for module, _, attribute in (place.partition(":") for place in group)
    }

    def attribute_of(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return attribute_of
