from __future__ import annotations

from dataclasses import replace

import pytest

from benchfw.provenance import Environment, Machine
from benchfw.records import Status
from benchfw.report.markdown import markdown
from benchfw.report.text import escape_markdown
from benchfw.summary.summarize import summarize


def markdown_of(run, results):
    return markdown(summarize(run, results), run)


def test_verdicts_come_first_then_tables_then_faults_then_provenance(realistic, run):
    text = markdown_of(run, realistic())
    parts = ("## Quickstart", "- **least-squares", "| method |", "To try: ", "\nProvenance: ")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "Run 7 of suite quickstart: 3 done." in text
    assert "`benchfw replay" in text


def test_tables_have_as_many_cells_in_every_row(realistic, run):
    lines = markdown_of(run, realistic()).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert tables
    start = 0
    for number, line in enumerate(tables):
        if line.startswith("| method"):
            start = number
        assert line.count("|") == tables[start].count("|")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("a|b", r"a\|b"),
        ("*a* _b_ `c`", r"\*a\* \_b\_ \`c\`"),
        ("[x](y)", r"[x]\(y)"),
        ("8.2 [7.6, 9.0]", "8.2 [7.6, 9.0]"),
        ("two\nlines", "two lines"),
    ],
)
def test_names_cannot_write_markdown(text, shown):
    assert escape_markdown(text) == shown


def test_a_run_with_no_success_is_described_too(make, run):
    results = [make.result("optimizer", "p", "gd", 0, [], status=Status.FAILED, reason="no luck", number=3)]
    text = markdown_of(run, results)
    assert "No trial finished" in text
    assert "1 of 1 trial failed: no luck" in text


ENVIRONMENT = Environment(
    machine=Machine(processor="Example_3000 | 8", cores=8),
    python="3.11.7",
    packages={"benchfw": "0.1.0", "numpy": "2.3.0", "scipy": "1.17.1"},
    threads=2,
    backends={"numpy": {"device": "Example_3000 | 8"}, "cupy": {"device": "Example GPU"}},
)


def test_the_last_line_says_when_and_on_what_machine_a_run_was_made(make, run):
    run = replace(run, environment=ENVIRONMENT, reused=1)
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [1.0, 0.5]))]
    assert markdown_of(run, results).endswith(
        "\n\nProvenance: run 7 of suite quickstart; started 2025-03-01T12:00:00+00:00; "
        "1 trial of earlier runs; seed 41; benchfw 0.1.0; Python 3.11.7; NumPy 2.3.0; "
        r"processor Example\_3000 \| 8; cores 8; threads of a trial 2; isolation by trial; "
        "cupy on Example GPU.\n"
    )


def test_a_run_that_noted_less_tells_what_it_has(make, run):
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [1.0, 0.5]))]
    last = markdown_of(replace(run, environment=Environment()), results).splitlines()[-1]
    assert last.startswith(
        "Provenance: run 7 of suite quickstart; started 2025-03-01T12:00:00+00:00; seed 41"
    )
