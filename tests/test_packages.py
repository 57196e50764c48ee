"""A name of a package that is not installed is answered with what to install; benchfw works without any.

After a family has gained or lost a name: `python tests/test_packages.py > benchfw/packages.json`.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

import benchfw
from benchfw import data
from benchfw.errors import BenchfwError, DataError
from benchfw.loading import find_entry_points
from benchfw.packages import FAMILIES, install_command
from benchfw.plan import plan
from benchfw.registry import KINDS, Registry
from benchfw.suite import find_suites, parse_suite

STORED = Path(benchfw.__file__).parent / "packages.json"


def packages():
    """Return {package: {kind: names}} of everything that the families register."""
    registry = Registry()
    found = defaultdict(lambda: defaultdict(list))
    for kind in (*KINDS, "kernel"):
        for name, entry in registry.entries(kind).items():
            found[entry.plugin.distribution][kind].append(name)
    for each in registry.commands:
        found[each.callback.__module__.partition(".")[0].replace("_", "-")]["verb"].append(each.name)
    for folder in registry.suite_folders:
        names = [path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.toml")]
        found[folder.parent.name.replace("_", "-")]["suite"] = sorted(names)
    return {package: kinds for package, kinds in sorted(found.items()) if package.startswith("benchfw-")}


@pytest.fixture
def alone(monkeypatch):
    """Only the core is installed, from an index; the function says that it was from a folder instead."""
    known, origin = importlib.metadata.distribution, {}

    def core_points(group):
        return tuple(
            each for each in find_entry_points(group) if not each.distribution.startswith("benchfw-")
        )

    def core_distribution(name):
        if name.startswith("benchfw-"):
            raise importlib.metadata.PackageNotFoundError(name)
        if name == "benchfw":
            return SimpleNamespace(read_text=lambda _: json.dumps(origin) if origin else None)
        return known(name)

    monkeypatch.setattr("benchfw.registry.registry.find_entry_points", core_points)
    monkeypatch.setattr(importlib.metadata, "distribution", core_distribution)
    return lambda folder: origin.update(url=folder.as_uri(), dir_info={})


@pytest.mark.families
def test_the_stored_packages_are_those_that_have_the_names():
    assert json.loads(STORED.read_text(encoding="utf-8")) == packages()


@pytest.mark.families
def test_the_families_give_every_number_a_range():
    registry = Registry()
    plain = {
        f"{entry.name} {parameter.name}"
        for kind in KINDS
        for entry in registry.entries(kind).values()
        for parameter in entry.parameters.values()
        if entry.plugin.distribution.startswith("benchfw-") and parameter.hint in {int, float}
    }
    assert plain == {"box-least-squares lower", "box-least-squares upper"}  # any number will do


@pytest.mark.parametrize(
    ("kind", "name", "package"),
    [
        ("optimizer", "gd", "benchfw-firstorder"),
        ("problem", "gp-classification", "benchfw-variational"),
        ("kernel", "chebyshev-forms", "benchfw-spectral"),
        ("tuner", "optuna", "benchfw-bridges"),
    ],
)
def test_a_name_of_a_package_that_is_not_installed_says_what_to_install(alone, kind, name, package):
    with pytest.raises(BenchfwError, match=f"unknown {kind} '{name}'.*; pip install {package}$"):
        Registry().get(kind, name)


def test_a_suite_whose_tuner_is_not_installed_says_what_to_install(alone, toys):
    text = """
tune = { tuner = "optuna" }
problem = [{ use = "bowl" }]
optimizer = [{ use = "slide", step = { tune = "log", from = 0.1, to = 1 } }]
"""
    with pytest.raises(
        BenchfwError, match=r"unknown tuner 'optuna' in here, tune; pip install benchfw-bridges$"
    ):
        plan(parse_suite(text, "here"), Registry([str(toys)]))


def test_a_suite_of_a_package_that_is_not_installed_says_what_to_install(alone):
    with pytest.raises(BenchfwError, match="no suite 'quickstart' here; pip install benchfw-firstorder"):
        find_suites("quickstart", Registry().suite_folders)


def test_a_verb_of_a_package_that_is_not_installed_says_what_to_install(alone, run_inline, tmp_path):
    done = run_inline(["findings", "bundles"], tmp_path, dict(os.environ))
    assert (done.returncode, done.stderr) == (
        2,
        "benchfw: no verb 'findings' here; pip install benchfw-site\n",
    )


def test_a_form_of_a_package_that_is_not_installed_says_what_to_install(alone, cli):
    assert cli("run", "bowls.toml", "--no-report", "--only", "slide (step=0.5)").returncode == 0
    done = cli("export", "--format", "coco")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "benchfw: unknown format 'coco'; pip install benchfw-exchange\n"


@pytest.mark.parametrize("words", [("--dask", "local"), ("--slurm", "8"), ("--executor", "dask:local")])
def test_an_executor_of_a_package_that_is_not_installed_says_what_to_install(alone, cli, words):
    done = cli("run", "bowls.toml", *words)
    assert (done.returncode, done.stdout) == (2, "")
    name = "slurm" if "--slurm" in words else "dask"
    assert done.stderr == f"benchfw: unknown executor '{name}'; pip install benchfw-cluster\n"


def test_a_data_set_of_a_package_that_is_not_installed_says_what_to_install(alone, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCHFW_CACHE", str(tmp_path))
    monkeypatch.delenv("BENCHFW_DATA", raising=False)
    with Registry().activate():
        for use in (data.load, data.get_dataset):
            with pytest.raises(DataError, match=r"no data set 'sonar'.*; pip install benchfw-datasets$"):
                use("sonar")


@pytest.fixture
def checkout(alone, tmp_path, monkeypatch):
    """The core is installed from a checkout, whose packages of methods are not."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "checkout"
    (folder / "plugins" / "benchfw-firstorder").mkdir(parents=True)
    (folder / "plugins" / "benchfw-bridges").mkdir()
    alone(folder)
    return folder


def test_in_a_checkout_its_own_packages_are_installed(checkout):
    with pytest.raises(BenchfwError, match=r"'gd'; pip install checkout/plugins/benchfw-firstorder$"):
        Registry().get("optimizer", "gd")
    assert install_command("benchfw-bridges[jax]") == "pip install 'checkout/plugins/benchfw-bridges[jax]'"
    assert install_command(FAMILIES) == "pip install checkout/plugins/*"


def test_in_a_checkout_extras_of_what_is_installed_need_only_its_name(checkout):
    assert install_command("benchfw[report]") == "pip install 'benchfw[report]'"


def test_packages_come_from_an_index_when_the_checkout_has_gone(checkout):
    checkout.rename(checkout.with_name("elsewhere"))
    assert install_command(FAMILIES) == "pip install 'benchfw[families]'"
    assert install_command("benchfw-firstorder") == "pip install benchfw-firstorder"


def test_a_list_without_methods_says_what_to_install(alone, run_inline, tmp_path):
    done = run_inline(["list"], tmp_path, dict(os.environ))
    assert "no problems and no methods here: pip install 'benchfw[families]' brings some" in done.stdout


def test_a_name_that_no_package_has_is_explained_as_before(alone):
    with pytest.raises(BenchfwError, match="unknown optimizer 'mine'; load the plugin that has it"):
        Registry().get("optimizer", "mine")


def test_the_core_alone_lists_and_plans(alone):
    registry = Registry()
    assert not registry.broken
    assert {entry.plugin.distribution for entry in registry.entries("kernel").values()} == {"benchfw"}
    assert {kind for kind in KINDS if registry.entries(kind)} == {"tuner"}
    suite = parse_suite('title = "Kernels"\n[[kernel]]\nuse = "gaussian-gram"\nsize = 100\n', "here")
    assert plan(suite, registry)


if __name__ == "__main__":
    # a line a package: a name more is one line changed
    lines = [f" {json.dumps(package)}: {json.dumps(kinds)}" for package, kinds in packages().items()]
    print("{", ",\n".join(lines), "}", sep="\n")
