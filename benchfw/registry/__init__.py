"""What plugins register, by name, and how objects are built from suite tables."""

from benchfw.registry.entries import GIVEN, KINDS, NESTABLE, PARAMETRIC, Entry, Given, is_nested, kind_of
from benchfw.registry.registry import Registry, active_registry

__all__ = [
    "GIVEN",
    "KINDS",
    "NESTABLE",
    "PARAMETRIC",
    "Entry",
    "Given",
    "Registry",
    "active_registry",
    "is_nested",
    "kind_of",
]
