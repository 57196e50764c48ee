"""The source code that decides what a trial does: which modules it imports, and a hash of them."""

from benchfw.sources.closure import Closure, Modules, file_of
from benchfw.sources.installed import SITE_FOLDERS, Installed, is_installed, is_python

__all__ = [
    "SITE_FOLDERS",
    "Closure",
    "Installed",
    "Modules",
    "file_of",
    "is_installed",
    "is_python",
]
