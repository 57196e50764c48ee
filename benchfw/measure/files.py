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
    """The files of the trial that runs meanwhile, removed after it unless a folder is given to keep them."""

    __slots__ = ("_trial", "kept_in", "made")

    def __init__(self, trial: Trial, kept_in: str = "") -> None:
        self._trial, self.kept_in = trial, kept_in
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
            trial = self._trial
            number = f"tuning-{trial.key[:12]}" if trial.tuning else str(trial.repetition)
            labels = (trial.problem.label, trial.method.label, trial.backend, number)
            kept = Path(self.kept_in, *map(part_of_path, labels))
            place = kept if self.kept_in else _own_folder(scratch_folder(session())) / str(os.getpid())
            remove_folder(place)
            place.mkdir(parents=True)
            self.made = place
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
        if self.made is not None and not self.kept_in:
            remove_folder(self.made)
            with contextlib.suppress(OSError):  # another trial of the worker may have its own in there
                self.made.parent.rmdir()


current_files: ContextVar[TrialFiles | None] = ContextVar("current_files", default=None)


def keep_answer(answer: Any) -> None:
    """Save the last answer of the trial that is running, where its files are kept."""
    files = current_files.get()
    if files is not None and files.kept_in:
        files.keep_answer(answer)


def scratch_folder(worker: int) -> Path:
    """Return where a worker and what it forks have the files that they do not keep."""
    import tempfile

    return Path(tempfile.gettempdir(), f"benchfw-{worker}")


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
