"""The drawing script comes into an sdist by npm, and no other file in its place; a wheel fetches nothing."""

import hashlib
import importlib.util
import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
CONTENT = b"draw()"
BOTH = {"plotly-basic.min.js": CONTENT, "LICENSE": CONTENT}


@pytest.fixture
def build(tmp_path, monkeypatch):
    """The hook on an empty project, with an npm that packs CONTENT: builds, returns the script's files."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    digest = hashlib.sha256(CONTENT).hexdigest()
    monkeypatch.setattr(module, "FILES", dict.fromkeys(module.FILES, digest))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    provide_npm(tmp_path, CONTENT)
    warnings = []
    app = SimpleNamespace(display_warning=warnings.append)

    def run(target, version="standard"):
        hook = module.DrawingScript(str(tmp_path), {}, None, None, "", target, app)
        hook.initialize(version, {})
        return {path.name: path.read_bytes() for path in (tmp_path / "benchfw/report/html/assets").glob("*")}

    run.folder, run.warnings = tmp_path, warnings
    return run


def provide_npm(folder, content):
    """Write an npm that packs this content."""
    with tarfile.open(folder / "script.tgz", "w:gz") as archive:
        for name in BOTH:
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    npm = folder / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --pack-destination ]; do shift; done\ncp "{folder}/script.tgz" "$2"\n'
    )
    npm.chmod(0o755)


def break_npm(folder):
    (folder / "bin" / "npm").write_text("#!/bin/sh\nexit 1\n")


@pytest.mark.parametrize(("target", "version"), [("sdist", "standard"), ("wheel", "editable")])
def test_npm_brings_the_script_and_its_license(build, target, version):
    assert build(target, version) == BOTH
    assert build.warnings == []


def test_nothing_is_fetched_for_a_wheel(build):
    assert build("wheel") == {}


def test_what_is_there_is_not_fetched_again(build):
    build("sdist")
    break_npm(build.folder)
    assert build("sdist") == build("wheel") == BOTH


def test_an_sdist_without_the_script_is_not_made(build):
    break_npm(build.folder)
    with pytest.raises(ValueError, match="npm could not fetch"):
        build("sdist")


def test_an_editable_install_goes_on_without_npm_and_says_so(build):
    break_npm(build.folder)
    assert build("wheel", "editable") == {}
    assert "npm could not fetch" in build.warnings[0]


def test_another_script_under_that_name_is_refused(build):
    provide_npm(build.folder, b"evil()")
    with pytest.raises(ValueError, match="is not the one whose sha256"):
        build("sdist")


def test_a_wheel_is_not_made_from_an_sdist_whose_script_was_changed(build):
    build("sdist")
    (build.folder / "PKG-INFO").touch()
    (build.folder / "benchfw/report/html/assets/plotly-basic.min.js").write_text("evil()")
    with pytest.raises(ValueError, match="are not those whose sha256"):
        build("wheel")
