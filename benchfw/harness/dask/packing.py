"""Plugins as they travel to another machine: modules by name, files with what they import."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchfw.sources import Modules


@dataclass(frozen=True)
class PackedPlugins:
    """The plugins of a run; one that is a file is its name and the content of every file it needs."""

    parts: tuple[str | tuple[str, Mapping[str, bytes]], ...]

    def unpack(self, folder: Path) -> tuple[str, ...]:
        """Write the files below a folder; return the plugins as a registry takes them."""
        return tuple(
            part if isinstance(part, str) else _write(folder / str(number), *part)
            for number, part in enumerate(self.parts)
        )


def pack(sources: Iterable[str]) -> PackedPlugins:
    """Return plugins, given as a registry takes them, ready to travel."""
    return PackedPlugins(
        tuple(_read(Path(each).resolve()) if Path(each).is_file() else each for each in sources)
    )


def _read(path: Path) -> tuple[str, Mapping[str, bytes]]:
    files = with_helpers(path)
    return path.name, {each.relative_to(path.parent).as_posix(): each.read_bytes() for each in files}


def with_helpers(path: Path) -> list[Path]:
    """Return a plugin's file and, of what it imports in turn, the modules and whole packages beside it."""
    folder = path.parent
    found = [Path(each) for each in Modules([folder]).closure([path]).files]
    beside = [each.relative_to(folder) for each in found if each.is_relative_to(folder)]
    packages = {each.parts[0] for each in beside if len(each.parts) > 1}
    inside = [each for name in packages for each in (folder / name).rglob("*") if each.is_file()]
    modules = [folder / each for each in beside if len(each.parts) == 1]
    return sorted([*modules, *(each for each in inside if "__pycache__" not in each.parts)])


def _write(folder: Path, name: str, files: Mapping[str, bytes]) -> str:
    for each, content in files.items():
        path = folder / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return str(folder / name)
