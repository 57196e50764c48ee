"""What a trial has written: it has not read it from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


class Written:
    """The files that a trial has written, and the folders that it has made."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def clear(self) -> None:
        """Forget all, for the next trial."""
        self._files.clear()
        self._folders.clear()

    def add_file(self, path: str) -> None:
        self._files.add(path)

    def add_folder(self, path: str) -> None:
        """Add a folder that was not there before."""
        self._folders |= {path, os.path.realpath(path)}

    def follow(self, path: str) -> str:
        """Return where a path leads from a folder that the trial has made, maybe a new one each time."""
        return os.path.realpath(path) if self._has_made_folder_of(path) else path

    def has(self, path: str, state: Any) -> bool:
        """Return whether the trial has written this, or another program in a folder that the trial has made.

        What is not there has not been written, and what a hard link leads to was there before.
        """
        if path in self._files or path in self._folders:
            return True
        return state is not None and self._has_made_folder_of(path) and not _has_links(path)

    def _has_made_folder_of(self, path: str) -> bool:
        return bool(self._folders) and not self._folders.isdisjoint(map(str, Path(path).parents))


def _has_links(path: str) -> bool:
    """Return whether a file has more than one name."""
    try:
        return os.path.isfile(path) and os.stat(path).st_nlink > 1  # noqa: PTH113, PTH116 - often called
    except OSError:
        return False
