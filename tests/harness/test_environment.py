"""Facts about the machine."""

import json
import os
import subprocess

import pytest

from benchfw.harness import environment
from benchfw.provenance import Environment


def test_the_facts_can_be_written_as_json_and_name_machine_and_versions():
    found = environment.gather(["numpy"], 2)
    assert Environment.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert found.threads == 2
    assert found.machine.cores == os.cpu_count()
    assert found.machine.memory > 2**20
    assert {"benchfw", "numpy", "scipy"} <= set(found.packages)
    assert found.backends["numpy"]["numpy"] == found.packages["numpy"]


def test_a_backend_that_is_not_here_gives_its_reason():
    assert "nowhere" in environment.describe("nowhere")["unavailable"]


def test_a_folder_without_git_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert environment.project() is None


def test_a_machine_without_git_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.project() is None


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A git repository with one committed file, and the user in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "method.py").write_text("step = 1\n", encoding="utf-8")
    person = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    for words in (("init", "-q"), ("add", "."), (*person, "commit", "-q", "-m", "First")):
        subprocess.run(["git", *words], check=True)
    return tmp_path


def test_a_project_has_a_commit_and_is_changed_by_an_edit_but_not_by_a_report(project):
    (project / "reports").mkdir()
    (project / "reports" / "benchfw.sqlite").write_text("", encoding="utf-8")
    facts = environment.project()
    assert len(facts.commit) == 40
    assert facts.changed is False
    (project / "method.py").write_text("step = 2\n", encoding="utf-8")
    assert environment.project().changed is True


def test_a_changed_file_whose_name_is_no_text_is_a_change(project):
    odd = os.fsdecode(b"caf\xe9.txt")
    (project / odd).write_text("", encoding="utf-8")
    for words in (("config", "core.quotePath", "false"), ("add", odd)):
        subprocess.run(["git", *words], check=True)
    assert environment.project().changed is True


def test_where_git_cannot_tell_whether_files_changed_nobody_claims_that_they_did_not(project):
    (project / ".git" / "index").write_bytes(b"damaged")
    assert environment.project().changed is None
