"""Build conda/recipe.yaml and run its tests, with a channel of this Python and of wheels, not conda-forge.

`pip install build py-rattler py-rattler-build pyyaml && python .ci/conda.py`, by the Python of the recipe.
"""

from __future__ import annotations

import asyncio
import platform
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from email import message_from_string
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rattler.index import index_fs
from rattler.platform import Platform
from rattler_build import FileEntry, Package, Stage0Recipe, assemble_package

ROOT = Path(__file__).parents[1]
RECIPE = ROOT / "conda" / "recipe.yaml"
HERE = str(Platform.current())
LIBRARY = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"


def pack_python(channel: Path) -> None:
    """Pack this interpreter and its standard library, without what was installed into it."""
    source = Path(sysconfig.get_path("stdlib"))
    unwanted = {"__pycache__", "dist-packages", "site-packages", "test"}
    paths = [path for path in source.rglob("*") if path.is_file()]
    names = [(path, path.relative_to(source)) for path in paths]
    library = [(path, f"{LIBRARY}/{name}") for path, name in names if not unwanted & set(name.parts)]
    program = Path(sys.executable).resolve()
    programs = [(program, f"bin/{name}") for name in ("python", "python3", Path(LIBRARY).name)]
    pack(channel, "python", platform.python_version(), [*library, *programs], [])


def pack_wheel(channel: Path, wheel: Path, place: Path) -> None:
    """Pack what a wheel installs, with what it needs."""
    place = place / wheel.stem
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    about = message_from_string(next(place.glob("*.dist-info/METADATA")).read_text(encoding="utf-8"))
    needs = [Requirement(each) for each in about.get_all("Requires-Dist", [])]
    depends = [
        f"{canonicalize_name(each.name)} {each.specifier}".strip()
        for each in needs
        if each.marker is None or each.marker.evaluate({"extra": ""})
    ]
    files = [(path, path.relative_to(place)) for path in place.rglob("*") if path.is_file()]
    installed = [(path, f"{LIBRARY}/site-packages/{name}") for path, name in files]
    pack(channel, canonicalize_name(about["Name"]), about["Version"], installed, ["python", *depends])


def pack(channel: Path, name: str, version: str, files: list[tuple[Path, str]], depends: list[str]) -> None:
    """Write a package into the channel."""
    entries = [FileEntry.from_paths(path, target) for path, target in files]
    assemble_package(
        name, version, HERE, "0", channel / HERE, files=entries, depends=depends, compression_level=1
    )


def make_channel(channel: Path, place: Path) -> None:
    """Fill a channel with all that the recipe names, in its newest versions."""
    requirements = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))["requirements"]
    names = [each.replace(" ", "") for part in requirements.values() for each in part]
    wanted = [each for each in names if not each.startswith("python")]
    (channel / HERE).mkdir(parents=True)
    run_module(
        "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(place / "wheels"), *wanted
    )
    pack_python(channel)
    for wheel in sorted((place / "wheels").glob("*.whl")):
        pack_wheel(channel, wheel, place / "unpacked")
    asyncio.run(index_fs(channel))


def run_module(*command: str) -> None:
    """Run a module of this Python; an error if it fails."""
    subprocess.run([sys.executable, "-m", *command], check=True)


def main() -> int:
    """Return 0 if the package was built and its tests passed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        channel = place / "channel"
        run_module("build", "--sdist", "--outdir", str(ROOT / "dist"), str(ROOT))
        make_channel(channel, place)
        channels = [channel.as_uri()]
        (built,) = Stage0Recipe.from_file(RECIPE).run_build(output_dir=place / "built", channels=channels)
        results = Package.from_file(built.packages[0]).run_tests(channel=channels)
        for each in results:
            print(*each.output, sep="\n")
        print(f"{built.packages[0]}: {sum(each.success for each in results)} of {len(results)} tests passed")
        return 0 if results and all(each.success for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
