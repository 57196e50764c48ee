"""Which of our packages has a name, and the command that installs it: from an index, or from a checkout."""

from __future__ import annotations

import os
from pathlib import Path

FAMILIES = "benchfw[families]"
"""The requirement that brings all packages of methods."""


def advise_install(kind: str, name: str) -> str:
    """Return how to install the package of ours that has a name; empty where none has it or it is there."""
    import json

    text = (Path(__file__).parent / "packages.json").read_text(encoding="utf-8")
    for package, kinds in json.loads(text).items():
        if name in kinds.get(kind, ()) and not is_installed(package):
            return install_command(package)
    return ""


def install_command(requirement: str) -> str:
    """Return the command that installs a requirement such as "benchfw-bridges[jax]".

    If this benchfw came from a checkout, packages that are not installed yet come from there too: an index
    may have none of them, or another version. Extras of an installed package need only its name.
    """
    name, bracket, extras = requirement.partition("[")
    checkout = find_checkout()
    if checkout is not None and requirement == FAMILIES:
        return f"pip install {_relative(checkout)}/plugins/*"
    if checkout is not None and (checkout / "plugins" / name).is_dir() and not is_installed(name):
        return f"pip install {_quoted(f'{_relative(checkout)}/plugins/{name}{bracket}{extras}')}"
    return f"pip install {_quoted(requirement)}"


def bound_version(version: str) -> str:
    """Return the bounds a package sets on benchfw: one minor version; the next may change the contract."""
    major, minor = map(int, version.split(".")[:2])
    return f">={major}.{minor},<{major}.{minor + 1}"


def is_installed(package: str) -> bool:
    import importlib.metadata

    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def find_checkout() -> Path | None:
    """Return the folder that benchfw was installed from; None if it came from an index or has gone."""
    import importlib.metadata
    import json
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = importlib.metadata.distribution("benchfw").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:  # run from its source
        return None
    address = urlsplit(json.loads(origin)["url"] if origin else "")
    folder = Path(url2pathname(address.path))
    return folder if address.scheme == "file" and (folder / "plugins").is_dir() else None


def _relative(folder: Path) -> str:
    """Return a folder as a shell in the working folder would name it, if that is shorter."""
    try:
        near = Path(os.path.relpath(folder)).as_posix()
    except ValueError:  # on another drive
        return folder.as_posix()
    return near if len(near) < len(folder.as_posix()) else folder.as_posix()


def _quoted(text: str) -> str:
    """Return a word for a shell; brackets need quotes in some."""
    return f"'{text}'" if not text.isascii() or any(mark in text for mark in "[] ()&;'$") else text
