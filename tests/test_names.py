"""Labels become names of files and benchmarks, and no two of them the same."""

from __future__ import annotations

from pathlib import PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchfw.names import LONGEST, choose_name, part_of_path


@given(st.lists(st.text(), unique=True, min_size=2, max_size=2))
@example(["a/b", "a%2Fb"])
@example([".", ".."])
@example(["", "%"])
@example(["x" * 200, "x" * 201])
@example(["x" * 200, part_of_path("x" * 200)])
@example(["CON", "%43ON"])
@example(["nul .txt", "lpt1"])
def test_two_labels_have_two_parts_of_a_path(labels):
    parts = [part_of_path(each) for each in labels]
    assert parts[0] != parts[1]
    for part in parts:
        assert 0 < len(part.encode(errors="surrogatepass")) <= LONGEST
        assert PureWindowsPath(part).name == part
        assert not PureWindowsPath(part).is_reserved()


@pytest.mark.parametrize(
    ("label", "part"),
    [
        ("sgd (step=0.5)", "sgd (step=0.5)"),
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        ("100 %", "100 %25"),
        ("CONs", "CONs"),
    ],
)
def test_a_label_stays_readable(label, part):
    assert part_of_path(label) == part


def test_a_name_that_is_taken_gets_a_number():
    taken = {"gd"}
    assert [choose_name("gd", taken), choose_name("gd", taken), choose_name("sgd", taken)] == [
        "gd-2", "gd-3", "sgd",
    ]  # fmt: skip
