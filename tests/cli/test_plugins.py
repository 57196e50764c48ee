"""A stranger's method joins with one file, and its trials follow its source."""

import subprocess
import sys

import pytest

HEAVY_BALL = '''
from dataclasses import dataclass
from benchfw import Smooth, hookimpl

@dataclass(frozen=True)
class HeavyBall:
    """Gradient descent with momentum (Polyak, 1964)."""
    step: float = 0.1
    momentum: float = 0.9
    solves = Smooth

    def run(self, problem, rng):
        x = before = problem.start()
        while True:
            yield x
            move = self.momentum * (x - before) - self.step * problem.grad(x)
            x, before = problem.project(x + move), x

@hookimpl
def register_optimizers(register):
    register("polyak", HeavyBall)
'''

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "polyak"
version = "1.0"
[project.entry-points.benchfw]
polyak = "polyak"
[tool.hatch.build.targets.wheel]
include = ["polyak.py"]
"""

SUITE = """
repetitions = 1
plugins = ["bowls.py"]
budget = { iterations = 5 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
[[optimizer]]
use = "polyak"
"""


@pytest.fixture
def stranger(cli):
    cli.write("polyak.py", HEAVY_BALL)
    cli.write("polyak.toml", SUITE)
    return cli


def test_a_one_file_plugin_runs_when_it_is_named(stranger):
    assert stranger("run", "polyak.toml", "--no-report").returncode == 2
    done = stranger("run", "polyak.toml", "--no-report", "--plugin", "polyak.py")
    assert done.returncode == 0, done.stderr
    assert "polyak" in done.stdout


@pytest.mark.thorough
def test_an_installed_plugin_runs_without_being_named(stranger, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text(PROJECT)
    (project / "polyak.py").write_text(HEAVY_BALL)
    (stranger.folder / "polyak.py").unlink()
    target = tmp_path / "installed"
    words = ["-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", target, project]
    subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
    done = stranger("run", "polyak.toml", "--no-report", PYTHONPATH=str(target))
    assert done.returncode == 0, done.stderr
    listed = stranger("list", "optimizers", PYTHONPATH=str(target))
    assert "polyak 1.0" in listed.stdout


LOADING = [
    ("run", "bowls.toml"), ("run", "bowls.toml", "--dry-run"), ("list",), ("show", "slide"), ("time",),
    ("replay", 1), ("report",), ("report", "--format", "md"), ("check", "bowls.py"), ("data", "list"),
]  # fmt: skip


def test_a_plugin_given_by_hand_that_cannot_be_loaded_ends_every_verb_with_2_and_one_line(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5")
    cli.write("broken.py", "\nraise RuntimeError('half an idea')\n")
    fault = "plugin 'broken.py' cannot be loaded: RuntimeError: half an idea (broken.py, line 2)"
    for words in LOADING:
        done = cli(*words, "--plugin", "broken.py")
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"benchfw: {fault}\n"), words
    cli.write("named.toml", cli.suite.replace("bowls.py", "broken.py"))
    assert cli("run", "named.toml").stderr == f"benchfw: {fault}\n"
    assert cli.run_count() == 1


@pytest.fixture
def helped(stranger):
    """The plugin with its update in a helper module, run once."""
    stranger.write("helper.py", "def momentum(x, before, g):\n    return 0.9 * (x - before) - 0.1 * g\n")
    text = HEAVY_BALL.replace(
        "self.momentum * (x - before) - self.step * problem.grad(x)", "momentum(x, before, problem.grad(x))"
    )
    stranger.write("polyak.py", "from helper import momentum\n" + text)
    stranger("run", "polyak.toml", "--no-report", "--plugin", "polyak.py", "--only", "polyak")
    return stranger


def reused_on_the_next_run(line, *words, **variables):
    done = line(
        "run", "polyak.toml", "--no-report", "--plugin", "polyak.py", "--only", "polyak", *words, **variables
    )
    assert done.returncode == 0, done.stderr
    return line.last_run()["reused"] == 1


def test_a_trial_is_run_again_when_a_helper_of_its_plugin_is_edited(helped):
    assert reused_on_the_next_run(helped)
    helped.write("helper.py", "def momentum(x, before, g):\n    return 0.8 * (x - before) - 0.1 * g\n")
    assert not reused_on_the_next_run(helped)


def test_a_trial_is_not_run_again_for_a_comment_or_a_moved_folder(helped, tmp_path_factory):
    helped.write("helper.py", "# a comment\n" + (helped.folder / "helper.py").read_text())
    assert reused_on_the_next_run(helped)
    moved = tmp_path_factory.mktemp("moved") / "elsewhere"
    helped.folder.rename(moved)
    helped.folder = moved
    assert reused_on_the_next_run(helped)


def test_a_trial_is_run_again_when_the_number_of_threads_changes(helped):
    assert not reused_on_the_next_run(helped, OMP_NUM_THREADS="2")
    assert reused_on_the_next_run(helped, "--threads", 2)


@pytest.fixture
def call_with_verbs(cli, tmp_path):
    """Return a function that installs a plugin whose `register_commands` has this body, and calls benchfw."""
    info = tmp_path / "verbs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: verbs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[benchfw]\nverbs = verbs\n")

    def call(body, *words):
        cli.write(
            "verbs.py",
            "import click\nfrom benchfw import hookimpl\n"
            "@click.command()\ndef hello():\n    'Says good day.'\n    click.echo('good day')\n"
            f"@hookimpl\ndef register_commands(register):\n    {body}\n",
        )
        return cli(*words, PYTHONPATH=str(tmp_path))

    return call


def test_a_plugin_adds_a_verb(call_with_verbs):
    assert call_with_verbs("register(hello)", "hello").stdout == "good day\n"
    _, _, added = call_with_verbs("register(hello)", "--help").stdout.partition("Verbs of plugins:\n")
    assert ["hello", "Says", "good", "day."] in [line.split() for line in added.splitlines()]


def test_a_verb_whose_plugin_fails_to_add_it_is_answered_with_the_reason(call_with_verbs):
    done = call_with_verbs("register(1 / 0)", "hello")
    assert done.returncode == 2
    assert "no verb 'hello'" in done.stderr
    assert "(not loaded: plugin 'verbs' raised in register_commands: ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("os.abort()", "was killed by SIGABRT in deadly.py, line 3"),
        ("os._exit(0)", "ended with exit code 0"),
        ("os.kill(os.getpid(), 11)", "was killed by SIGSEGV in deadly.py, line 3"),
    ],
)
def test_a_file_that_kills_the_process_when_it_is_imported_is_one_sentence(cli, text, sentence):
    cli.write("deadly.py", f"import os\nprint('printed')\n{text}\n")
    for words in (("list", "optimizers"), ("show", "slide"), ("run", "bowls.toml")):
        done = cli(*words, "--plugin", "deadly.py")
        assert done.returncode == 2
        assert done.stdout == ""
        wanted = f"plugin 'deadly.py' cannot be loaded: the process that imports it {sentence}"
        assert done.stderr.strip() == f"benchfw: {wanted}"
    cli.write("named.toml", cli.suite.replace('"bowls.py"', '"bowls.py", "deadly.py"'))
    done = cli("run", "named.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"deadly.py' cannot be loaded: the process that imports it {sentence}" in done.stderr
