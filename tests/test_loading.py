"""A package names its methods by place, and imports none of them before they are used."""

import sys

import pytest

from benchfw.loading import attributes_at, make_registrar


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "tools.py").write_text("class Hammer: pass\n")
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
