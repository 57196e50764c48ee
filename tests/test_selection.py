"""`make test` runs a sample that leaves no method and no check out, `make test-all` runs the rest."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from benchfw.testing.pytest_plugin import BoundCheck

ROOT = Path(__file__).parents[1]
ROLES = {"optimizer": "abcdefg", "kernel": "xyz"}
CHECKS = {"optimizer": ("improves", "documented", "fixed"), "kernel": ("documented", "agrees")}


@pytest.fixture(scope="module")
def selection(pytestconfig):
    """The conftest of the repository."""
    return pytestconfig.pluginmanager.get_plugin(str(ROOT / "conftest.py"))


class Item(SimpleNamespace):
    """As much of a test as the selection looks at."""

    __hash__ = object.__hash__

    def get_closest_marker(self, name):
        return self.marks.get(name)


class Subject(SimpleNamespace):
    def __str__(self):
        return f"{self.kind} {self.name}"


@pytest.fixture
def items():
    checks = [
        BoundCheck(Subject(kind=kind, name=name), SimpleNamespace(name=check))
        for kind, names in ROLES.items()
        for name in names
        for check in CHECKS[kind]
    ]
    made = [
        Item(nodeid=f"test_a[{each}]", path="a", callspec=SimpleNamespace(params={"check": each}), marks={})
        for each in checks
    ]
    few = {"sampled": SimpleNamespace(args=(3,))}
    made += [Item(nodeid=f"test_b[{number}]", path="b", marks=few) for number in range(10)]
    made += [
        Item(nodeid="test_c", path="c", marks={"thorough": True}),
        Item(nodeid="test_d", path="d", marks={}),
    ]
    return made


def select(selection, items, *options):
    """Return what runs with these options, and what is deselected."""
    chosen, gone = list(items), []

    def pytest_deselected(items):
        gone.extend(items)

    hook = SimpleNamespace(pytest_deselected=pytest_deselected)
    config = SimpleNamespace(getoption=lambda name: name in options, hook=hook)
    selection.pytest_collection_modifyitems(config, chosen)
    assert {*chosen, *gone} == {*items}
    return chosen


def test_the_sample_has_every_subject_and_every_check_of_a_role(selection, items):
    bound = [each.callspec.params["check"] for each in select(selection, items) if hasattr(each, "callspec")]
    assert {str(each.subject) for each in bound} == {
        f"{kind} {name}" for kind in ROLES for name in ROLES[kind]
    }
    for kind, names in CHECKS.items():
        for name in names:
            tried = [each for each in bound if (each.subject.kind, each.check.name) == (kind, name)]
            assert len(tried) >= 2
    assert len(bound) < 20


def test_as_many_cases_run_as_a_mark_says_and_none_of_what_is_thorough(selection, items):
    chosen = [each.nodeid for each in select(selection, items)]
    assert sum(each.startswith("test_b") for each in chosen) == 3
    assert "test_c" not in chosen
    assert "test_d" in chosen
    assert [each.nodeid for each in select(selection, items[::-1])] == chosen[::-1]


def test_the_rest_is_what_was_left_out(selection, items):
    quick, rest = select(selection, items), select(selection, items, "rest")
    assert {*quick, *rest} == {*items}
    assert not {*quick} & {*rest}
    assert select(selection, items, "all") == items
