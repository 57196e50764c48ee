"""Build every package, and check what would be published: `make dist-check`.

Each is built as an sdist, and that as a wheel; then again as a wheel, without npm and a network, which must
give the same files. The wheels are then installed from the folder alone, as from an index, into clean
environments (see dist_install.py), and the tests of the sdists run there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from dist_install import check_installed

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [ROOT, *sorted((ROOT / "plugins").glob("benchfw-*"))]
LEAST_RATING = 8
"""Of ten, by pyroma; addresses that do not exist yet cost the rest."""
SCRIPT = "benchfw/report/html/assets/plotly-basic.min.js"


def main(folder: Path) -> None:
    """Build into a folder, check what is there, and print how large it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        call("-m", "build", "--quiet", "--no-isolation", "--outdir", folder, package)
    archives, wheels = sorted(folder.glob("*.tar.gz")), sorted(folder.glob("*.whl"))
    assert len(archives) == len(wheels) == len(PACKAGES), f"{folder} holds other files too; empty it"
    call("-m", "twine", "check", "--strict", *archives, *wheels)
    call("-m", "check_wheel_contents", "--config", ROOT / "pyproject.toml", *wheels)
    for package in PACKAGES:
        call("-m", "validate_pyproject", package / "pyproject.toml")
    for archive, wheel in zip(archives, wheels, strict=True):
        check_rating(archive)
        check_rebuilt(archive, wheel)
    names = zipfile.ZipFile(wheels[0]).namelist()
    assert SCRIPT in names, "the wheel has no script that draws figures"
    for each in (*archives, *wheels):
        print(f"{each.stat().st_size / 1e3:7.0f} kB  {each.name}")
    check_installed(folder)


def call(*words: object, **options: object) -> str:
    """Run Python with these words; SystemExit with what was printed if that fails."""
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def check_rating(archive: Path) -> None:
    """Ask pyroma."""
    said = call("-m", "pyroma", "--min", LEAST_RATING, archive)
    print(f"{archive.name}: {re.findall(r'Final rating: .*', said)[0]}")


def check_rebuilt(archive: Path, wheel: Path) -> None:
    """Build a wheel from an sdist with neither npm nor a network, and compare all its files."""
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(archive) as packed:
            packed.extractall(place, filter="data")
        (source,) = Path(place).iterdir()
        assert (source / "tests").is_dir(), f"{archive.name} has no tests"
        offline = {**os.environ, "PATH": str(Path(place) / "nothing"), "https_proxy": "http://127.0.0.1:9"}
        call("-m", "build", "--quiet", "--wheel", "--no-isolation", "--outdir", place, source, env=offline)
        again = Path(place) / wheel.name
        assert contents(again) == contents(wheel), f"{wheel.name} depends on npm or a network"


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
