"""Every suite that is shipped can be planned, whole and quick: no name or parameter in it is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.suite import read_suite

FOLDER = Path(__file__).parents[1] / "suites"
REGISTRY = Registry()


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
@pytest.mark.parametrize("name", sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.toml")))
def test_a_suite_has_trials(name, quick):
    assert plan(read_suite(FOLDER / name, quick=quick), REGISTRY)
