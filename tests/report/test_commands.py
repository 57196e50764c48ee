"""The commands that a page prints run again what it shows, or are not there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.provenance import Changes
from benchfw.report.commands import (
    bundle_command,
    can_run_again,
    compare_command,
    replay_command,
    report_command,
    suite_command,
)
from benchfw.report.page import write_report
from benchfw.summary.summarize import summarize


@pytest.fixture
def given(run):
    """A run of a suite that names one of its two plugins."""
    text = 'title = "Own"\nplugins = ["own.py"]\n'
    environment = replace(
        run.environment, plugins=("/home/me/own.py", "/home/me/by hand.py"), changes=Changes(quick=True)
    )
    return replace(run, suite="own", text=text, environment=environment)


def test_a_suite_brings_its_own_plugins_and_a_bundle_brings_none(given):
    assert suite_command("own.toml", given) == "benchfw run own.toml --plugin 'by hand.py' --quick"
    assert bundle_command("own.zip", given) == (
        "benchfw run --from-bundle own.zip --plugin own.py --plugin 'by hand.py'"
    )


def test_a_suite_that_is_not_toml_names_no_plugins(given):
    shown = suite_command("own.toml", replace(given, text="plugins = ["))
    assert shown == "benchfw run own.toml --plugin own.py --plugin 'by hand.py' --quick"


def test_a_trial_is_replayed_from_the_store_that_has_it():
    assert replay_command(3, ["a.py"], Path("reports/benchfw.sqlite")) == "benchfw replay 3 --plugin a.py"
    assert replay_command(3, [], Path("my runs.sqlite")) == "benchfw replay 3 --store 'my runs.sqlite'"


def test_runs_are_reported_and_compared_in_the_store_that_has_them(run):
    assert report_command(run, "--format", "md") == "benchfw report 7 --format md"
    elsewhere = replace(run, store=Path("own.sqlite"))
    assert report_command(elsewhere) == "benchfw report 7 --store own.sqlite"
    assert report_command(replace(run, store=Path("own.zip"))) == "benchfw report own.zip"
    assert compare_command("a b.zip", "last", Path("own.sqlite")) == (
        "benchfw compare 'a b.zip' last --store own.sqlite"
    )


def test_what_another_program_or_a_session_ran_has_no_command(run):
    assert can_run_again(run)
    assert not can_run_again(replace(run, environment=replace(run.environment, imported="coco")))
    assert not can_run_again(replace(run, text='[[optimizer]]\nuse = "object:mine"\n'))


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("mine.sqlite", "benchfw replay TRIAL --plugin /home/me/own.py"),
        ("mine.zip", "benchfw run --from-bundle mine.zip --plugin own.py"),
    ],
)
def test_a_page_has_the_command_for_its_store_or_its_bundle(given, make, tmp_path, store, said):
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [1, 0.5]))]
    stored = replace(given, store=Path(store))
    page = write_report(summarize(stored, results), stored, tmp_path / "7").read_text(encoding="utf-8")
    assert f"<code>{said}" in page
    assert ("benchfw replay" in page) == (store == "mine.sqlite")
