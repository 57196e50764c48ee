"""Completion: what the shells are told."""

import shutil
import subprocess

import pytest


def completions(cli, *words):
    variables = {
        "_BENCHFW_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["benchfw", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return [line.partition(",")[2] for line in cli(**variables).stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("co",), {"compare", "completion"}),
        pytest.param(("run", "quick"), {"quickstart"}, marks=pytest.mark.families),
        (("run", "--dry"), {"--dry-run"}),
        pytest.param(("show", "heavy"), {"heavy-ball"}, marks=pytest.mark.families),
        pytest.param(("check", "fista"), {"fista"}, marks=pytest.mark.families),
        (("time", "add-"), {"add-scaled"}),
        (("list", "opti"), {"optimizers"}),
        (("new", "opt"), {"optimizer"}),
        pytest.param(("data", "fetch", "sona"), {"sonar", "sonar-like"}, marks=pytest.mark.families),
    ],
)
def test_a_half_written_word_is_completed(cli, words, expected):
    assert expected <= set(completions(cli, *words))


def test_runs_are_offered_the_latest_first(cli):
    cli("run", "bowls.toml", "--no-report", "--quick")
    cli("run", "bowls.toml", "--no-report", "--quick")
    assert completions(cli, "report", "") == ["last", "2", "1"]


def test_runs_without_a_store_offer_only_last(cli):
    assert completions(cli, "report", "") == ["last"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script_that_names_the_program(cli, shell):
    done = cli("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"{shell}_complete" in done.stdout
    assert "benchfw" in done.stdout


def test_the_script_for_bash_is_valid_and_registers_the_program(cli):
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")
    script = cli("completion", "bash").stdout
    done = subprocess.run(
        [bash, "-c", f"{script}\ncomplete -p benchfw"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "_benchfw_completion" in done.stdout


def test_completing_a_verb_imports_neither_numpy_nor_plugins(cli):
    done = cli(
        _BENCHFW_COMPLETE="bash_complete", COMP_WORDS="benchfw r", COMP_CWORD="1", PYTHONPROFILEIMPORTTIME="1"
    )
    assert "numpy" not in done.stderr
    assert "benchfw_firstorder" not in done.stderr
