"""Bring the script that draws the figures of a page, a small build of plotly.js, into the sdist.

The script is not ours, so it is not in the repository: npm brings it, and its hash is checked. An sdist is
not made without it. A wheel holds what its source holds: nothing is fetched for it, so it is the same with or
without npm and a network. In a checkout an editable install fetches the script if npm is there.
"""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "plotly.js-basic-dist-min@4.1.1"
FILES = {  # sha256 of each
    "plotly-basic.min.js": "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba",
    "LICENSE": "8c45d9eaf50c2f72dd9c7ab9ef440788ba58a3538484b5c51c1f17d5128752e7",
}


class DrawingScript(BuildHookInterface[Any]):
    """Fills benchfw/report/html/assets before the files of the package are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Bring what is missing for an sdist or an editable install; check what goes into a wheel."""
        root = Path(self.root)
        folder = root / "benchfw" / "report" / "html" / "assets"
        if all((folder / name).is_file() and is_right(name, (folder / name).read_bytes()) for name in FILES):
            return
        if self.target_name == "sdist":
            bring(folder)
        elif (root / "PKG-INFO").is_file():
            raise ValueError(f"the files in {folder} are not those whose sha256 is in hatch_build.py")
        elif version == "editable":
            try:
                bring(folder)
            except ValueError as error:
                self.app.display_warning(str(error))


def is_right(name: str, content: bytes) -> bool:
    """Return whether this is the file that was meant."""
    return hashlib.sha256(content).hexdigest() == FILES[name]


def bring(folder: Path) -> None:
    """Let npm fetch the package, and put its files into a folder; ValueError if that cannot be done."""
    try:
        contents = fetch_files()
    except (OSError, KeyError, ValueError, tarfile.TarError, subprocess.SubprocessError) as error:
        raise ValueError(
            f"npm could not fetch {PACKAGE}, which draws the figures of pages: {error}"
        ) from error
    for name in FILES:
        if name not in contents or not is_right(name, contents[name]):
            raise ValueError(f"the {name} of {PACKAGE} is not the one whose sha256 is in hatch_build.py")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)


def fetch_files() -> dict[str, bytes]:
    """Return the files of the package of npm that are wanted."""
    with tempfile.TemporaryDirectory() as place:
        words = ["npm", "pack", "--silent", "--fetch-retries=0", "--pack-destination", place, PACKAGE]
        subprocess.run(words, check=True, timeout=30, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (packed,) = Path(place).glob("*.tgz")
        with tarfile.open(packed) as archive:
            found = {name: archive.extractfile(f"package/{name}") for name in FILES}
            return {name: file.read() for name, file in found.items() if file is not None}
