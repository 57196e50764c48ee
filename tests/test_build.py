"""A build brings the small drawing script with it, if npm can be had, and never another file in its place."""

import hashlib
import importlib.util
import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
CONTENT = b"draw()"


@pytest.fixture
def build(tmp_path, monkeypatch):
    """The hook on an empty project, with an npm that packs whatever CONTENT and LICENSE are told to be."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    digest = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setattr(module, "FILES", dict.fromkeys(module.FILES, digest))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    warnings = []
    app = SimpleNamespace(display_warning=warnings.append)

    def run():
        hook = module.DrawingScript(str(tmp_path), {}, None, None, "", "wheel", app)
        hook.initialize("standard", {})
        return {path.name: path.read_bytes() for path in (tmp_path / "benchfw/report/html/assets").glob("*")}

    run.folder, run.warnings = tmp_path, warnings
    return run


def provide_npm(folder, content):
    with tarfile.open(folder / "script.tgz", "w:gz") as archive:
        for name in ("plotly-basic.min.js", "LICENSE"):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    npm = folder / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --pack-destination ]; do shift; done\ncp "{folder}/script.tgz" "$2"\n'
    )
    npm.chmod(0o755)


def test_the_script_and_its_license_come_by_npm(build):
    provide_npm(build.folder, CONTENT)
    assert build() == {"plotly-basic.min.js": CONTENT, "LICENSE": CONTENT}
    assert build.warnings == []


def test_what_is_there_is_not_fetched_again(build):
    provide_npm(build.folder, CONTENT)
    before = build()
    (build.folder / "bin" / "npm").unlink()
    assert build() == before
    assert build.warnings == []


def test_another_script_under_that_name_is_refused(build):
    provide_npm(build.folder, b"evil()")
    assert build() == {}
    assert "is not the one whose sha256" in build.warnings[0]


def test_a_build_without_npm_goes_on_and_says_so(build, monkeypatch):
    monkeypatch.setenv("PATH", str(build.folder))
    assert build() == {}
    assert "could not be fetched" in build.warnings[0]
