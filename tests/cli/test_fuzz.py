"""A small version of `make fuzz`: hostile input gives a result or a clean error."""

import importlib.util
import os
import sys
from pathlib import Path
from unittest import mock

import pytest

from benchfw.errors import BenchfwError

SCRIPT = Path(__file__).parents[2] / "suites" / "tracked" / "fuzz.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz"] = module
    with mock.patch.object(sys, "path", [str(SCRIPT.parent), *sys.path]):
        spec.loader.exec_module(module)
    yield module
    for name in ("fuzz", "_forged", "_command"):
        del sys.modules[name]


@pytest.mark.families
def test_no_suite_text_raises_anything_but_a_clean_error(fuzz):
    ends = fuzz.fuzz_suites(75, derandomize=True)
    assert ends["plans"] > 5
    assert ends["clean errors"] > 25


def test_no_damaged_store_raises_anything_but_a_clean_error(fuzz):
    ends = fuzz.fuzz_stores(15, seed=1)
    assert ends["read: clean error"] > 5
    assert ends["copy: fine"] > 10


def test_no_file_name_makes_a_traceback_or_steers_the_terminal(fuzz, run_inline):
    def call(words, folder):
        done = run_inline(list(words), folder, dict(os.environ))
        return done.returncode, done.stdout + done.stderr

    assert sum(fuzz.fuzz_names(12, call).values()) >= 12


def test_no_forged_store_or_bundle_runs_code_or_does_other_harm(fuzz, run_inline):
    def call(words, folder):
        done = run_inline(list(words), folder, dict(os.environ))
        return done.returncode, done.stdout + done.stderr

    ends = fuzz.fuzz_forged(8, seed=4, each=2, call=call)
    assert sum(ends.values()) == 16
    assert ends["exit code 2"] > 2


@pytest.mark.thorough
def test_a_page_that_stands_in_many_places_of_a_store_is_not_read_for_ever(fuzz, tmp_path):
    fuzz.honest_store(tmp_path / "run.sqlite")
    sys.modules["_forged"].build_tower(tmp_path / "run.sqlite", "run")
    with (
        fuzz.Store(tmp_path / "run.sqlite") as store,
        pytest.raises(BenchfwError, match="run 1 is there twice"),
    ):
        store.runs()
    fuzz.honest_store(tmp_path / "trial.sqlite")
    sys.modules["_forged"].build_tower(tmp_path / "trial.sqlite", "trial")
    with fuzz.Store(tmp_path / "trial.sqlite") as store:
        assert store.known(["a"]) == {}  # looked up, without a pass over all
    assert "interrupted" in fuzz.check(tmp_path / "trial.sqlite").damage
