from __future__ import annotations

import pytest

from benchfw.records import Status
from benchfw.report.markdown import escaped, markdown
from benchfw.report.summary import summarize


def test_verdicts_come_first_then_tables_then_faults(realistic, run):
    text = markdown(summarize(run, realistic()), run)
    places = [text.index(part) for part in ("## Quickstart", "- **least-squares", "| method |", "To try: ")]
    assert places == sorted(places)
    assert "Run 7 of suite quickstart: 3 done." in text
    assert "`benchfw replay" in text


def test_tables_have_as_many_cells_in_every_row(realistic, run):
    lines = markdown(summarize(run, realistic()), run).splitlines()
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
    assert escaped(text) == shown


def test_a_run_with_no_success_is_told_too(make, run):
    results = [make.result("optimizer", "p", "gd", 0, [], status=Status.FAILED, reason="no luck", number=3)]
    text = markdown(summarize(run, results), run)
    assert "No trial finished" in text
    assert "1 of 1 trial failed: no luck" in text
