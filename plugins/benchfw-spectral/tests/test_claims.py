"""The claims of the suites: each has its source and names tests that exist."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import benchfw
from benchfw.suite import read_suite

SUITES = sorted(Path(str(files("benchfw_spectral"))).glob("suites/**/*.toml"))
TESTS = Path(__file__).parent


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_claim_names_its_source_and_tests_that_exist(path):
    for claim in read_suite(path).claims:
        assert claim.source.startswith(("Han 2018, ", "benchfw, ")), claim.says
        file = ""
        for named, test in re.findall(r"(?:tests/([\w/]+\.py))?::(\w+)", claim.reason):
            file = named or file
            assert f"def {test}(" in (TESTS / file).read_text("utf-8"), claim.says


def standings(name, tmp_path, **settings):
    """Return how each claim of a quick run stands, by the first words of what it says."""
    store = tmp_path / "store.sqlite"
    result = benchfw.run(name, quick=True, jobs=0, replay=False, progress=False, store=store, **settings)
    rows = result.claims
    return {says[:24]: standing for says, standing in zip(rows["says"], rows["standing"], strict=True)}


@pytest.mark.thorough
def test_random_degrees_have_no_bias_and_a_fixed_degree_has_one(tmp_path):
    found = standings("spectral/unbiased", tmp_path, repetitions=4)
    assert found == {
        "Without the noise of pro": "holds",
        "Randomly cut Chebyshev s": "holds",
        "They do with Poisson's l": "holds",
        "A series that is always ": "holds",
        "The recursion (6) gives ": "not testable",
    }


@pytest.mark.thorough
def test_svrg_converges_linearly(tmp_path):
    found = standings("spectral/rates", tmp_path, only="*/svrg*")
    assert found["SVRG converges linearly"] == "holds"
