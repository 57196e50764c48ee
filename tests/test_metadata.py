"""All packages are released together: one version, one licence, bounds that hold them together."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import benchfw
from benchfw.packages import bound_version

ROOT = Path(__file__).parent.parent
PLUGINS = sorted((ROOT / "plugins").glob("benchfw-*"))
BOUNDS = bound_version(benchfw.__version__)


def project_of(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def requirements_of(folder):
    """Return what a package requires; not its own extras, which others of its extras bring."""
    project = project_of(folder)["project"]
    extras = project.get("optional-dependencies", {}).values()
    found = [each for group in (project["dependencies"], *extras) for each in group]
    return [each for each in found if not each.startswith(f"{project['name']}[")]


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_a_package_has_the_version_and_the_licence_of_the_core(folder):
    found = project_of(folder)
    assert found["project"]["dynamic"] == ["version"]
    named = (folder / found["tool"]["hatch"]["version"]["path"]).resolve()
    assert named == Path(benchfw.__file__).resolve()
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_a_package_needs_others_of_ours_of_the_same_minor_version(folder):
    ours = [each for each in requirements_of(folder) if each.startswith("benchfw")]
    assert [each for each in ours if not each.endswith(BOUNDS)] == []


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_every_requirement_has_a_floor(folder):
    assert [each for each in requirements_of(folder) if ">=" not in each] == []


@pytest.mark.parametrize("folder", [ROOT, *PLUGINS], ids=lambda folder: folder.name)
def test_a_package_says_that_it_has_types(folder):
    module = project_of(folder)["project"]["name"].replace("-", "_")
    assert (folder / module / "py.typed").is_file()
    assert "Typing :: Typed" in project_of(folder)["project"]["classifiers"]


def test_bounds_are_those_of_a_minor_version():
    assert bound_version("2.11.3") == ">=2.11,<2.12"


def test_the_extra_all_brings_every_package():
    extras = project_of(ROOT)["project"]["optional-dependencies"]
    brought = re.split(r"[\[,\]]", extras["all"][0])
    named = {
        re.sub(r"\[.*\]", "", package)
        for extra in brought
        for package in extras.get(extra, ())
        if package.startswith("benchfw-")
    }
    assert named == {f"{folder.name}{BOUNDS}" for folder in PLUGINS}


@pytest.mark.skipif(not (ROOT / "conda").is_dir(), reason="the recipe is not in the sdist")
def test_the_recipe_of_conda_has_the_version_and_the_floors_of_the_package():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    project = project_of(ROOT)["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["report"]]
    floors = {each.partition(";")[0].replace(">=", " >=") for each in needed}
    assert recipe["context"]["version"] == benchfw.__version__
    assert {*recipe["requirements"]["run"]} == floors | {f"python {project['requires-python']}"}
