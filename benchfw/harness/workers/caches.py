"""Files that libraries keep for themselves, to be faster the next time: compiled code, lists of fonts.

They follow from what is known, and are other ones on another machine: no trial depends on them.
"""

from __future__ import annotations

import getpass
import os
import tempfile

SUFFIXES = (".nbi", ".nbc")  # of Numba, beside the source or elsewhere
DEFAULT_FOLDERS = {
    "CUPY_CACHE_DIR": "~/.cupy/kernel_cache",
    "JAX_COMPILATION_CACHE_DIR": "",
    "MPLCONFIGDIR": "~/.cache/matplotlib",
    "TORCHINDUCTOR_CACHE_DIR": "{temporary}/torchinductor_{user}",
    "TORCH_EXTENSIONS_DIR": "~/.cache/torch_extensions",
    "TRITON_CACHE_DIR": "~/.triton/cache",
}


class Caches:
    """Tells the files that libraries keep from others; where they are is asked once."""

    def __init__(self) -> None:
        self._folders = tuple(find_folders())

    def __contains__(self, path: str) -> bool:
        """Return whether a file or a folder, given by its full path, is one of them."""
        return path.endswith(SUFFIXES) or f"{path}{os.sep}".startswith(self._folders)


def find_folders() -> list[str]:
    """Return the folders: those that variables name, else those of the libraries' choice.

    Not one that has the working folder in it: there is more in it than what a library keeps.
    """
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = ""
    given = (
        os.environ.get(name) or default.format(temporary=tempfile.gettempdir(), user=user)
        for name, default in DEFAULT_FOLDERS.items()
    )
    found = [f"{os.path.abspath(os.path.expanduser(each))}{os.sep}" for each in given if each]  # noqa: PTH100, PTH111
    here = f"{os.getcwd()}{os.sep}"  # noqa: PTH109
    return [each for each in found if not here.startswith(each)]
