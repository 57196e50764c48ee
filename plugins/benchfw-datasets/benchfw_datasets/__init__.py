"""The data sets of the methods' papers, how their raw files are read, and a synthetic stand-in for each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from benchfw import hookimpl

if TYPE_CHECKING:
    from benchfw.hookspecs import Register

benchfw_api = 1

FILES = ("ratings", "series", "classification", "text", "images", "regression", "twins")


@hookimpl
def register_datasets(register: Register) -> None:
    """Add every entry of the catalog."""
    for file in FILES:
        for entry in importlib.import_module(f"benchfw_datasets.entries.{file}").ENTRIES:
            register(entry.name, entry)
