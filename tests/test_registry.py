"""Plugins are found and named; one given by hand must load, an installed one that fails is left out."""

import contextvars
import gc
import importlib
import importlib.metadata
import sys
from pathlib import Path

import pytest

from benchfw.backends import backend_names, get_backend
from benchfw.errors import BackendUnavailable, BenchfwError, PluginError
from benchfw.loading import EntryPoint, find_entry_points
from benchfw.registry import Registry, active_registry

OPTIMIZER = """from benchfw import hookimpl

class Mine:
    '''Mine: does nothing.'''

@hookimpl
def register_optimizers(register):
    register("mine", Mine)
"""


def test_what_a_plugin_file_registers_is_there_with_parameters_and_summary(registry):
    entry = registry.get("optimizer", "slide")
    assert entry.summary == "Gradient descent."
    assert list(entry.parameters) == ["step", "mode", "layers", "estimator"]
    assert list(registry.get("problem", "bowl").parameters) == ["size", "dataset"]
    assert entry.plugin.module == "toys"


def test_names_are_listed_in_alphabetical_order(registry):
    names = [name for name in registry.entries("optimizer") if name in {"slide", "needy"}]
    assert names == ["needy", "slide"]


def test_a_table_is_built_with_its_nested_tables(registry):
    table = {"use": "slide", "step": 0.1, "estimator": {"use": "noisy", "distribution": {"use": "fixed"}}}
    built = registry.build("optimizer", table)
    assert type(built).__name__ == "Slide"
    assert type(built.estimator).__name__ == "Noisy"
    assert built.estimator.distribution.mean == 3


def test_a_table_with_a_value_outside_of_its_range_is_not_built(registry):
    with pytest.raises(BenchfwError, match="scale must be at least 0, got -1, in estimator 'noisy'"):
        registry.build("optimizer", {"use": "slide", "estimator": {"use": "noisy", "scale": -1}})


def test_entries_of_a_table_include_those_of_its_nested_tables(plugin_file, toys):
    text = OPTIMIZER.replace("optimizers", "estimators")
    registry = Registry([str(toys), str(plugin_file(text, "other.py"))])
    table = {"use": "slide", "estimator": {"use": "mine"}}
    assert [each.plugin.module for each in registry.entries_of("optimizer", table)] == ["toys", "other"]


def test_a_function_called_like_a_hook_may_help_one(plugin_file, toys):
    text = OPTIMIZER.replace("register_optimizers(register):", "register_optimizers(register, scale=1):")
    helper = text.replace("@hookimpl\n", "")
    hook = (
        '@hookimpl(specname="register_optimizers")\ndef mine(register):\n    register_optimizers(register)\n'
    )
    found = Registry([str(plugin_file(f"{helper}\n{hook}", "helped.py")), str(toys)])
    assert "mine" in found.entries("optimizer")


@pytest.mark.parametrize(
    "use",
    [
        "CALLS = {'a': trial_started}",
        "class Own:\n    def go(self):\n        trial_started(1)",
        "def f(): trial_started(1)",
    ],
)
def test_a_function_that_the_plugin_uses_may_be_called_like_an_event(plugin_file, use):
    path = plugin_file(f"def trial_started(trial): ...\n{use}\n{OPTIMIZER}", "used.py")
    assert "mine" in Registry([str(path)]).entries("optimizer")


def test_a_method_called_like_a_hook_and_not_marked_is_named(monkeypatch, plugin_file):
    path = plugin_file(
        "class Plug:\n    def register_optimizers(self, register): ...\nplug = Plug()\n", "objects.py"
    )
    monkeypatch.syspath_prepend(path.parent)
    installed = [EntryPoint("objects", "objects:plug", "objects", "1.0")]
    assert "has register_optimizers without @hookimpl" in Registry(installed=installed).broken[0]


def test_a_library_that_is_given_as_code_counts_by_its_version():
    found = Registry(["pluggy"]).modules().closure(["pluggy"])
    assert "pluggy" in found.libraries
    assert not [name for name in found.modules if name.startswith("pluggy")]


def test_what_a_stored_run_names_is_lacking_unless_it_is_installed_or_given(toys):
    named = ["benchfw.core_plugin", "/elsewhere/toys.py", "/elsewhere/others.py", "antigravity"]
    assert Registry([str(toys)]).lacks(named) == ["/elsewhere/others.py", "antigravity"]
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("files", [("first.py", "second.py"), ("one/plugin.py", "two/plugin.py")])
def test_two_plugins_with_one_name_are_an_error_that_names_both(plugin_file, files):
    first, second = files
    with pytest.raises(PluginError, match=rf"optimizer 'mine'.*{first}.*{second}"):
        Registry([str(plugin_file(OPTIMIZER, first)), str(plugin_file(OPTIMIZER, second))])


def test_a_plugin_named_twice_is_loaded_once(toys, monkeypatch):
    monkeypatch.chdir(toys.parent)
    registry = Registry([str(toys), str(toys), "toys.py", "toys"])
    assert [each.module for each in registry.plugins].count("toys") == 1


def test_a_plugin_file_does_not_take_the_place_of_a_module_of_that_name(plugin_file):
    import colorsys

    registry = Registry([str(plugin_file(OPTIMIZER, "colorsys.py"))])
    assert "mine" in registry.entries("optimizer")
    try:
        assert sys.modules["colorsys"] is colorsys
    finally:
        sys.modules["colorsys"] = colorsys


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a plugin as the only one: a module of a distribution called imaginary."""

    def install(text, name="mine", **files):
        folder = tmp_path / "site"
        about = folder / "imaginary-1.2.dist-info"
        about.mkdir(parents=True)
        (folder / f"{name}_plugin.py").write_text(text)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: imaginary\nVersion: 1.2\n\nText\n")
        points = f"[console_scripts]\nrun = x:y\n\n[benchfw]\n# ours\n{name} = {name}_plugin\n"
        (about / "entry_points.txt").write_text(files.get("points", points))
        monkeypatch.setattr(sys, "path", [str(folder), *(each for each in sys.path if not has_plugins(each))])
        monkeypatch.delitem(sys.modules, f"{name}_plugin", raising=False)

    return install


def has_plugins(folder):
    return any("[benchfw]" in each.read_text() for each in Path(folder).glob("*-info/entry_points.txt"))


def test_an_installed_plugin_that_fails_is_named_with_its_distribution(install):
    install("raise RuntimeError('no device')", "sad")
    registry = Registry()
    (fault,) = registry.broken
    assert fault == "plugin 'sad' of imaginary 1.2: RuntimeError: no device (sad_plugin.py, line 1)"
    with pytest.raises(PluginError, match=r"unknown optimizer 'mine'.*not loaded: plugin 'sad'"):
        registry.get("optimizer", "mine")


def test_an_installed_plugin_whose_hook_fails_is_named_and_the_rest_works(install, toys):
    install(OPTIMIZER.replace("Mine)", "Yours)"), "sad")
    registry = Registry([str(toys)])
    (fault,) = registry.broken
    assert fault.startswith("plugin 'sad' raised in register_optimizers: NameError: name 'Yours'")
    assert fault.endswith("(sad_plugin.py, line 8)")
    assert "slide" in registry.entries("optimizer")


def test_an_installed_plugin_has_the_version_of_its_distribution(install):
    install(OPTIMIZER)
    plugin = Registry().get("optimizer", "mine").plugin
    assert str(plugin) == "imaginary 1.2"
    assert plugin.path == Path(sys.modules["mine_plugin"].__file__)


def test_an_entry_point_may_name_an_attribute_and_extras(install):
    text = OPTIMIZER.replace("@hookimpl\ndef", "class Plugin:\n  @staticmethod\n  @hookimpl\n  def")
    install(text, points="[benchfw]\nmine = mine_plugin:Plugin [fast]\n")
    assert Registry().get("optimizer", "mine").plugin.module == "mine_plugin"


def test_entry_points_are_those_that_importlib_finds():
    known = {
        (each.name, each.value, each.dist.name, each.dist.version)
        for each in importlib.metadata.entry_points(group="benchfw")
    }
    assert {tuple(each) for each in find_entry_points("benchfw")} == known


def test_suite_folders_are_collected(plugin_file, tmp_path):
    text = "from pathlib import Path\nfrom benchfw import hookimpl\n\n@hookimpl\n"
    text += f"def register_suites(register):\n    register(Path({str(tmp_path)!r}))\n"
    assert tmp_path in Registry([str(plugin_file(text, "folders.py"))]).suite_folders


def test_the_kernels_of_the_core_come_in_by_the_same_door():
    entry = Registry().get("kernel", "gaussian-gram")
    assert entry.plugin.distribution == "benchfw"
    assert entry.sample is not None


def test_a_plugin_for_this_version_of_the_api_loads(plugin_file):
    registry = Registry([str(plugin_file(f"benchfw_api = 1\n{OPTIMIZER}", "present.py"))])
    assert "mine" in registry.entries("optimizer")


BACKEND = """from benchfw import hookimpl
from benchfw.backends.numpy_backend import NumpyBackend

@hookimpl
def register_backends(register):
    register("another", NumpyBackend)
"""


def test_a_backend_is_known_while_its_registry_is_active_and_unknown_to_the_next(plugin_file):
    registry = Registry([str(plugin_file(BACKEND, "another.py"))])
    with registry.activate():
        assert "another" in backend_names()
        assert get_backend("another") is get_backend("another")
    assert "another" not in backend_names()
    with Registry().activate(), pytest.raises(BackendUnavailable, match="unknown backend 'another'"):
        get_backend("another")


def test_the_registry_that_was_activated_last_is_the_active_one(registry):
    with registry.activate():
        with Registry().activate():
            assert active_registry() is not registry
        assert active_registry() is registry


def test_without_activation_the_installed_plugins_are_loaded_once():
    def look():
        return active_registry(), active_registry(), backend_names()

    first, second, names = contextvars.Context().run(look)
    assert first is second
    assert names == first.backends.names
    assert contextvars.Context().run(active_registry) is first


def test_a_registry_activated_by_a_plain_call_stays_active(registry):
    def look():
        registry.activate()
        gc.collect()
        return active_registry()

    assert contextvars.Context().run(look) is registry
