"""The claims of the suites: each has its source, names tests that exist, and comes out as it should."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import benchfw
from benchfw.suite import read_suite

SUITES = sorted(Path(str(files("benchfw_firstorder"))).glob("suites/**/*.toml"))
TESTS = Path(__file__).parent


def standings(name, tmp_path, **options):
    """Return how each claim of a quick run stands, by the beginning of what it says."""
    result = benchfw.run(
        name, quick=True, jobs=0, replay=False, progress=False, store=tmp_path / "store.sqlite", **options
    )
    rows = result.claims
    return {says[:40]: standing for says, standing in zip(rows["says"], rows["standing"], strict=True)}


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_claim_names_its_source_and_tests_that_exist(path):
    for claim in read_suite(path).claims:
        assert claim.source.startswith("Notes, "), claim.says
        for file, test in re.findall(r"tests/([\w/]+\.py)::(\w+)", claim.reason):
            assert f"def {test}(" in (TESTS / file).read_text("utf-8"), claim.says


@pytest.mark.thorough
def test_nesterov_is_faster_than_gradient_descent_and_heavy_ball_is_not_always(tmp_path):
    found = standings("firstorder/momentum", tmp_path)
    assert found == {
        "Momentum, with a weight of 0.9, is faste": "refuted",
        "Nesterov's look-ahead is faster than gra": "holds",
    }


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["firstorder/rates", "firstorder/sparse"])
def test_theorems_hold_of_the_measured_curves(tmp_path, name):
    found = standings(name, tmp_path)
    assert set(found.values()) == {"holds", "not testable"}
    tested = [claim for claim in read_suite(path_of(name)).claims if claim.quick and not claim.reason]
    assert sum(each == "holds" for each in found.values()) == len(tested)


def path_of(name):
    return next(path for path in SUITES if path.with_suffix("").as_posix().endswith(f"suites/{name}"))
