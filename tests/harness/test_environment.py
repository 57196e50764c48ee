"""Facts about the machine."""

import json
import os

import pytest

from benchfw.harness import environment


@pytest.mark.parametrize(
    ("value", "threads"), [("3", 3), ("", 1), ("0", 1), ("-2", 1), ("many", 1), ("4,2", 1), (None, 1)]
)
def test_a_trial_gets_as_many_threads_as_omp_num_threads_says(monkeypatch, value, threads):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if value is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert environment.default_threads() == threads


def test_the_facts_can_be_written_as_json_and_name_machine_and_versions():
    facts = json.loads(json.dumps(environment.gather(["numpy"], 2)))
    assert facts["threads"] == 2
    assert facts["machine"]["cores"] == os.cpu_count()
    assert facts["machine"]["memory"] > 2**20
    assert {"benchfw", "numpy", "scipy"} <= set(facts["packages"])
    assert facts["backends"]["numpy"]["numpy"] == facts["packages"]["numpy"]


def test_a_backend_that_is_not_here_gives_its_reason():
    assert "nowhere" in environment.describe("nowhere")["unavailable"]


def test_a_folder_without_git_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert environment.project() == {}


def test_a_machine_without_git_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.project() == {}
