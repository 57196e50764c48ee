"""Every suite that is shipped can be planned, whole and quick: no name or parameter in it is out of date."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.suite import read_suite

ROOT = Path(__file__).parents[1]
SUITES = sorted([*ROOT.glob("suites/**/*.toml"), *ROOT.glob("plugins/*/*/suites/**/*.toml")])
REGISTRY = Registry()


@pytest.mark.parametrize("quick", [False, True], ids=["whole", "quick"])
@pytest.mark.parametrize("path", SUITES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.families
def test_a_suite_has_trials(path, quick):
    assert plan(read_suite(path, quick=quick), REGISTRY)
