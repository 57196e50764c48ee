"""A package names its methods by place, and imports none of them before they are used."""

import sys

import pytest

from benchfw.loading import Plugin, attributes_at, load_attributes, make_registrar, read_docstring
from benchfw.registry import Entry

TOOLS = '''
from dataclasses import dataclass as Borrowed

@Borrowed
class Hammer:
    """Drives nails.

    Not screws.
    """

class Saw: ...
'''


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "tools.py").write_text(TOOLS)
    monkeypatch.syspath_prepend(tmp_path)
    yield "shop"
    for name in ("shop", "shop.tools"):
        sys.modules.pop(name, None)


def test_an_attribute_is_imported_when_it_is_first_asked_for(package):
    find, names = attributes_at(package, ["tools:Hammer"])
    assert "shop.tools" not in sys.modules
    assert find("Hammer").__module__ == "shop.tools"
    with pytest.raises(AttributeError, match="module 'shop' has no attribute 'Saw'"):
        find("Saw")
    assert "Hammer" in names()


def test_names_are_registered_with_their_whole_place():
    found = {}
    make_registrar("shop", {"hammer": "tools:Hammer"})(found.__setitem__)
    assert found == {"hammer": "shop.tools:Hammer"}


def test_a_description_is_read_without_an_import(package):
    plugin = Plugin("shop", "shop", "shop", "1.0", None)
    assert Entry("optimizer", "hammer", "shop.tools:Hammer", plugin).summary == "Drives nails."
    assert "shop.tools" not in sys.modules
    assert Entry("optimizer", "saw", "shop.tools:Saw", plugin).summary == ""


@pytest.mark.parametrize(
    "place", ["shop.tools:Borrowed", "shop.tools:Saw", "shop.nowhere:Hammer", "math:sqrt"]
)
def test_a_description_that_the_source_does_not_have_is_left_to_the_import(package, place):
    assert read_docstring(*place.split(":")) is None


def test_a_source_that_is_nested_too_deeply_to_be_read_has_no_description(package, tmp_path):
    (tmp_path / "shop" / "tools.py").write_text(f"x = {'-' * 100_000}1\n{TOOLS}")
    assert read_docstring("shop.tools", "Hammer") is None


def test_attributes_named_by_file_come_from_one_import_and_objects_stay_as_they_are(tmp_path):
    path = tmp_path / "drawer.py"
    path.write_text("class Nail: ...\nNAILS = [Nail()]\n")
    nail, given, nails = load_attributes(f"{path}:Nail", path, f"{path}:NAILS")
    assert isinstance(nails[0], nail)
    assert given is path


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_a_file_may_have_any_encoding_that_python_reads(tmp_path, encoding):
    path = tmp_path / f"encoded_{encoding.replace('-', '_')}.py"
    start = "" if encoding == "utf-8-sig" else f"# coding: {encoding}\n"
    path.write_text(f'{start}NAME = "Poincaré"\n', encoding=encoding)
    assert load_attributes(f"{path}:NAME") == ("Poincaré",)
