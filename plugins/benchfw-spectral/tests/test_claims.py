"""The claims of the suites: each has its source, names tests that exist, and comes out as measured before."""

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
        assert claim.source.startswith("Han 2018, "), claim.says
        file = ""
        for named, test in re.findall(r"(?:tests/([\w/]+\.py))?::(\w+)", claim.reason):
            file = named or file
            assert f"def {test}(" in (TESTS / file).read_text("utf-8"), claim.says
