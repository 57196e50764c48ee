"""The source code that decides what a trial does: which modules it imports, and a hash of them."""

from benchfw.sources.closure import Closure, Modules, file_of
from benchfw.sources.installed import SITE_FOLDERS, Installed, is_installed, is_python
from benchfw.sources.loaded import find_outdated

__all__ = [
    "SITE_FOLDERS",
    "Closure",
    "Installed",
    "Modules",
    "file_of",
    "find_outdated",
    "is_installed",
    "is_python",
]
