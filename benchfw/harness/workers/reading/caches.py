"""Files that libraries keep for themselves, to be faster the next time: compiled code, lists of fonts.

They follow from what is known, and are other ones on another machine: no trial depends on them.
"""

from __future__ import annotations

import os
import tempfile

SUFFIXES = (".nbi", ".nbc")  # of Numba, beside the source or elsewhere
FONTS = "fontlist-v"  # of Matplotlib
DEFAULT_FOLDERS = {
    "CUPY_CACHE_DIR": "~/.cupy/kernel_cache",
    "JAX_COMPILATION_CACHE_DIR": "",
    "TORCHINDUCTOR_CACHE_DIR": "",
    "TORCH_EXTENSIONS_DIR": "~/.cache/torch_extensions",
    "TRITON_CACHE_DIR": "~/.triton/cache",
}


class Caches:
    """Tells the files that libraries keep from others; where they are is asked once."""

    def __init__(self) -> None:
        self._beginnings = tuple(find_beginnings())

    def __contains__(self, path: str) -> bool:
        """Return whether a file or a folder, given by its full path, is one of them."""
        name = os.path.basename(path)  # noqa: PTH119 - often called
        kept = name.endswith(SUFFIXES) or name.startswith(FONTS)
        return kept or f"{path}{os.sep}".startswith(self._beginnings)


def find_beginnings() -> list[str]:
    """Return how the paths of such files begin: with what variables name, else by the libraries' choice.

    Not with a folder that has the working folder in it: there is more in it than what a library keeps.
    """
    given = (os.environ.get(name) or default for name, default in DEFAULT_FOLDERS.items())
    found = [f"{os.path.abspath(os.path.expanduser(each))}{os.sep}" for each in given if each]  # noqa: PTH100, PTH111
    here = f"{os.getcwd()}{os.sep}"  # noqa: PTH109
    inductor = os.path.join(tempfile.gettempdir(), "torchinductor_")  # noqa: PTH118 - with a user's name
    return [*(each for each in found if not here.startswith(each)), inductor]
