"""Whether the modules that this process has imported are those of the files as they are now."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection
from importlib.machinery import ModuleSpec, SourceFileLoader

from benchfw.sources.kept_bytecode import is_of_file
from benchfw.sources.parse import parse_file

_OLDER = "older than its file"
_loaded: dict[str, tuple[ModuleSpec, str]] = {}  # by name: what was in the file when it was first looked at


def find_outdated(files: Collection[str]) -> list[str]:
    """Return those of the files that were edited after this process imported them.

    A module that is reloaded gets another spec, and is looked at anew.
    """
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return sorted(
        spec.origin for spec in specs if spec and spec.origin and spec.origin in files and _is_outdated(spec)
    )


def _is_outdated(spec: ModuleSpec) -> bool:
    try:
        now = parse_file(spec.origin or "").digest
    except OSError:
        now = "absent"
    known = _loaded.get(spec.name)
    if known is None or known[0] is not spec:
        known = _loaded[spec.name] = spec, _OLDER if _was_edited(spec) else now
    return known[1] != now


def _was_edited(spec: ModuleSpec) -> bool:
    """Whether the file differs from the one that was imported, as far as the bytecode kept of it shows."""
    if type(spec.loader) is not SourceFileLoader or sys.dont_write_bytecode or not spec.cached:
        return False
    with contextlib.suppress(OSError):  # none was kept
        return os.access(spec.cached, os.W_OK) and not is_of_file(spec.cached, spec.origin or "")
    return False
