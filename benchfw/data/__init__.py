"""Data sets by name, found in the folders of BENCHFW_DATA."""

from benchfw.data.folders import VARIABLE, find, fingerprint, folders, load, names

__all__ = ["VARIABLE", "find", "fingerprint", "folders", "load", "names"]
