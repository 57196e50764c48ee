"""`benchfw run --against REV`: two revisions of one repository in turn, and what changed."""

import json
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.workers

SUITE = """
seed = 3
repetitions = 3
plugins = ["bowls.py"]
budget = { iterations = 200 }
target = { gap = 1e-6 }
[[problem]]
use = "bowl"
[[estimator]]
use = "noisy"
[[optimizer]]
use = "slide"
"""

GIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Test"), ("EMAIL", "test@example.org"))
}


@pytest.fixture
def repository(cli):
    """The bowls and a suite for them in a repository of one commit; a temporary folder of its own."""
    cli.write("bowls.toml", SUITE)
    cli.write(".gitignore", "__pycache__/\nreports/\ntemporary/\n")
    cli.temporary = cli.folder / "temporary"
    cli.temporary.mkdir()
    cli.environment |= {**GIT, "TMPDIR": str(cli.temporary)}
    cli.git = lambda *words: (
        subprocess.run(
            ["git", *words], cwd=cli.folder, env=cli.environment, check=True, capture_output=True, text=True
        ).stdout
    )
    cli.git("init", "--quiet")
    cli.git("add", ".")
    cli.git("commit", "--quiet", "-m", "bowls")
    return cli


def change(cli, before, after):
    text = (cli.folder / "bowls.py").read_text()
    assert text.count(before) == 1
    cli.write("bowls.py", text.replace(before, after))


def verdicts(done):
    return {(row["method"], row["quantity"]): row["verdict"] for row in json.loads(done.stdout)["rows"]}


def assert_nothing_is_left(cli):
    assert len(cli.git("worktree", "list").splitlines()) == 1
    assert not list(cli.temporary.iterdir())


@pytest.mark.thorough
def test_a_noisier_estimator_and_a_slower_optimizer_are_found_and_named(repository):
    change(repository, "noise = self.scale *", "noise = 1.2 * self.scale *")
    change(repository, "answer - self.step *", "answer - 0.7 * self.step *")
    done = repository("run", "bowls.toml", "--against", "HEAD", "--repetitions", "5", "--json")
    assert done.returncode == 1, done.stderr
    found = verdicts(done)
    assert found["noisy", "variance"] == found["slide", "iterations_to_target"] == "regressed"
    assert found["noisy", "cost_per_draw"] == "identical"
    assert "run 1: 20 trials to run, 0 in the store already" in done.stderr  # each of 10 on both revisions
    assert_nothing_is_left(repository)


def test_quality_of_an_unchanged_tree_is_equal_to_the_last_bit_and_memory_is_compared(repository):
    done = repository("run", "bowls.toml", "--against", "HEAD", "--repetitions", "1", "--json")
    rows = {(row["method"], row["quantity"]): row for row in json.loads(done.stdout)["rows"]}
    assert all(row["ratio"] == 1 for (_, name), row in rows.items() if name in {"variance", "cost_to_target"})
    assert 1e6 < rows["slide", "peak_memory"]["before"] < 1e9
    assert repository.git("status", "--porcelain") == ""
    assert_nothing_is_left(repository)
    repository("run", "bowls.toml", "--no-report", "--repetitions", "1")
    assert repository.last_run()["reused"] == 0, "CPU seconds are not to be taken for seconds"


def test_a_method_that_the_other_revision_lacks_is_reported_and_the_rest_compared(repository):
    change(repository, 'register("noisy", Noisy)', 'register("noisy", Noisy)\n    register("newer", Noisy)')
    change(repository, "noise = self.scale *", "noise = 0.5 * self.scale *")
    repository.write("bowls.toml", SUITE + '[[estimator]]\nuse = "newer"\n')
    done = repository("run", "bowls.toml", "--against", "HEAD", "--repetitions", "1")
    table = done.stdout.splitlines()
    assert any("noisy" in line and " variance " in line and line.endswith("improved") for line in table)
    assert "not compared: no value in A (failed: unknown estimator 'newer'" in done.stdout
    assert "A is HEAD, B the working tree; all rows: `benchfw compare 1 2`" in done.stdout
    # what did not change is left to that
    assert "iterations_to_target" not in done.stdout
    assert "iterations_to_target" in repository("compare", 1, 2).stdout


def test_a_method_that_now_fails_is_a_failure(repository):
    change(
        repository, "        answer = problem.start()\n        while", "        answer = 1 / 0\n        while"
    )
    done = repository("run", "bowls.toml", "--against", "HEAD", "--repetitions", "1")
    assert done.returncode == 1
    assert "no value in B (failed: ZeroDivisionError" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "nowhere"), "--against nowhere: unknown revision; give a commit"),
        (("--against", "HEAD", "--jobs", "2"), "--against runs one trial at a time; leave out --jobs"),
        (("--against", "HEAD", "--dask", "local"), "--against runs on this machine; leave out --executor,"),
        (("--against", "HEAD", "--keep", "kept"), "--against keeps no files; leave out --keep"),
    ],
)
def test_bad_input_is_one_clear_line(repository, words, said):
    done = repository("run", "bowls.toml", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert_nothing_is_left(repository)


def test_code_from_outside_the_repository_is_not_compared_with_itself(repository, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "bowls.py").write_text((repository.folder / "bowls.py").read_text())
    repository.write("bowls.toml", SUITE.replace('"bowls.py"', f'"{outside / "bowls.py"}"'))
    done = repository("run", "bowls.toml", "--against", "HEAD")
    assert done.returncode == 2
    assert "both sides would run the same code" in done.stderr


@pytest.mark.thorough
def test_an_interruption_removes_the_worktree_and_the_packages(repository):
    repository.write("bowls.toml", SUITE.replace('use = "slide"', 'use = "slide"\nnap = 0.01'))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchfw", "run", "bowls.toml", "--against", "HEAD", "--events", "events"],
        cwd=repository.folder, env=repository.environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    events, deadline = repository.folder / "events", time.monotonic() + 60
    while time.monotonic() < deadline and not (events.exists() and "finished" in events.read_text()):
        time.sleep(0.02)
    assert len(repository.git("worktree", "list").splitlines()) == 2
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    assert_nothing_is_left(repository)


PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "bowls"
version = "1"
[project.entry-points.benchfw]
bowls = "bowls"
[tool.hatch.build.targets.wheel]
include = ["bowls.py"]
"""


@pytest.mark.thorough
def test_an_installed_package_of_the_repository_is_taken_from_the_other_revision(repository):
    repository.write("pyproject.toml", PROJECT)
    repository.write("bowls.toml", SUITE.replace('plugins = ["bowls.py"]', ""))
    repository.git("add", ".")
    repository.git("commit", "--quiet", "-m", "a package")
    repository.git("tag", "old")
    change(repository, "noise = self.scale *", "noise = 2 * self.scale *")
    # as `pip install --editable .` would: the files where they are, and what they are called
    installed = repository.temporary.with_name("reports") / "installed"
    about = installed / "bowls-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: bowls\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[benchfw]\nbowls = bowls\n")
    path = [str(installed), str(repository.folder), repository.environment.get("PYTHONPATH", "")]
    done = repository(
        "run", "bowls.toml", "--against", "old", "--repetitions", "1", "--json", PYTHONPATH=":".join(path)
    )
    assert done.returncode == 1, done.stderr
    rows = {(row["method"], row["quantity"]): row for row in json.loads(done.stdout)["rows"]}
    assert rows["noisy", "variance"]["ratio"] == pytest.approx(4)
    assert_nothing_is_left(repository)
