"""Files in which compilers keep what they have compiled, to be faster the next time.

They follow from source that is known, and are other ones on another machine: no trial depends on them.
"""

from __future__ import annotations

import getpass
import os
import tempfile

SUFFIXES = (".nbi", ".nbc")  # of Numba, beside the source or elsewhere
DEFAULT_FOLDERS = {
    "CUPY_CACHE_DIR": "~/.cupy/kernel_cache",
    "JAX_COMPILATION_CACHE_DIR": "",
    "TORCHINDUCTOR_CACHE_DIR": "{temporary}/torchinductor_{user}",
    "TORCH_EXTENSIONS_DIR": "~/.cache/torch_extensions",
    "TRITON_CACHE_DIR": "~/.triton/cache",
}


class CompiledFiles:
    """Tells the files of compilers from others; where they are is asked once."""

    def __init__(self) -> None:
        self._folders = tuple(find_folders())

    def __contains__(self, path: str) -> bool:
        """Return whether a file or a folder, given by its full path, is a compiler's."""
        return path.endswith(SUFFIXES) or f"{path}{os.sep}".startswith(self._folders)


def find_folders() -> list[str]:
    """Return the folders of compilers: those that variables name, else those of the compilers' choice."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = ""
    given = (
        os.environ.get(name) or default.format(temporary=tempfile.gettempdir(), user=user)
        for name, default in DEFAULT_FOLDERS.items()
    )
    return [f"{os.path.abspath(os.path.expanduser(each))}{os.sep}" for each in given if each]  # noqa: PTH100, PTH111
