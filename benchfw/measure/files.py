"""A folder for the files of one trial, and its last answer beside them where both are kept."""

from __future__ import annotations

import contextlib
import os
import stat
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from benchfw.errors import BenchfwError
from benchfw.names import part_of_path
from benchfw.records import Trial
from benchfw.system import session


class TrialFiles:
    """The files of the trial that runs meanwhile: removed after it, or `kept` in a folder of its own."""

    __slots__ = ("kept", "made")

    def __init__(self, kept: Path | None = None) -> None:
        self.kept = kept
        self.made: Path | None = None

    def __enter__(self) -> Self:
        current_files.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        current_files.set(None)

    def folder(self) -> Path:
        """Return the trial's folder, made empty at the first call."""
        if self.made is None:
            self.made = _make_empty(self.kept or _scratch())
        return self.made

    def keep_answer(self, answer: Any) -> None:
        """Save the last answer: an array as answer.npy, anything else as answer.pickle."""
        import pickle

        import numpy as np

        folder = self.folder()
        if isinstance(answer, np.ndarray) and answer.dtype != object:
            np.save(folder / "answer.npy", answer, allow_pickle=False)
        else:
            with contextlib.suppress(Exception):  # what cannot be pickled is not kept, and no fault
                (folder / "answer.pickle").write_bytes(pickle.dumps(answer))

    def close(self) -> None:
        """Remove what is not kept."""
        if self.made is not None and self.kept is None:
            _remove_scratch(self.made)


class CheckFiles(TrialFiles):
    """The files of a check: a folder for each problem that it builds and the method that runs on it."""

    __slots__ = ("_begun", "_root")

    def __init__(self) -> None:
        super().__init__()
        self._root: Path | None = None
        self._begun = 0

    def begin(self) -> None:
        """Have the next call make another folder; those before stay until the check ends."""
        self._begun += 1
        self.made = None

    def folder(self) -> Path:
        """Return the folder of the problem that was built last, made empty at the first call."""
        if self.made is None:
            self._root = self._root or _make_empty(_scratch())
            self.made = _make_empty(self._root / str(self._begun))
        return self.made

    def close(self) -> None:
        """Remove all of them."""
        if self._root is not None:
            _remove_scratch(self._root)


current_files: ContextVar[TrialFiles | None] = ContextVar("current_files", default=None)


def keep_answer(answer: Any) -> None:
    """Save the last answer of the trial that is running, where its files are kept."""
    files = current_files.get()
    if files is not None and files.kept is not None:
        files.keep_answer(answer)


def begin_files() -> None:
    """Have `trial_folder` return a new folder from now on, if a check is what runs."""
    files = current_files.get()
    if isinstance(files, CheckFiles):
        files.begin()


def kept_folder(trial: Trial, place: str) -> Path:
    """Return where in a folder the files of a trial are kept."""
    number = f"tuning-{trial.key[:12]}" if trial.tuning else str(trial.repetition)
    return Path(place, *map(part_of_path, (trial.problem.label, trial.method.label, trial.backend, number)))


def scratch_folder(worker: int) -> Path:
    """Return where a worker and what it forks have the files that they do not keep."""
    import tempfile

    return Path(tempfile.gettempdir(), f"benchfw-{worker}")


def _scratch() -> Path:
    return _own_folder(scratch_folder(session())) / str(os.getpid())


def _remove_scratch(path: Path) -> None:
    remove_folder(path)
    with contextlib.suppress(OSError):  # another trial of the worker may have its own in there
        path.parent.rmdir()


def _make_empty(path: Path) -> Path:
    remove_folder(path)
    path.mkdir(parents=True)
    return path


def _own_folder(path: Path) -> Path:
    """Make a folder for this user alone, or take the one that is there; somebody else's is a BenchfwError."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            raise BenchfwError(
                f"{path} belongs to somebody else, or is not a folder; set TMPDIR to a folder of your own"
            ) from None
    return path


def trial_folder() -> Path:
    """Return a folder for files of the trial that is running, empty at its start.

    It is removed after the trial, unless the run keeps files (`benchfw run --keep FOLDER`).
    """
    files = current_files.get()
    if files is None:
        raise BenchfwError("benchfw.trial_folder is for methods and problems of a trial, and none is running")
    return files.folder()


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it, if there is one."""
    import shutil  # a template that forks trials imports as little as it can

    shutil.rmtree(folder, ignore_errors=True)
