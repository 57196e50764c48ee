"""A comment on a pull request fits one screen, however large the run is."""

from __future__ import annotations

from benchfw.records import Status
from benchfw.report.comment import LONGEST_ANSWER, comment
from benchfw.summary.summarize import summarize

SCREEN = 40  # lines


def test_a_small_run_has_its_verdict_and_its_table(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [9, end]), target={"gap": 1.0})
        for name, end in {"a": 0.5, "b": 0.25}.items()
        for r in range(6)
    ]
    text = comment(summarize(run, results), run)
    assert "- **p, optimizers**: " in text
    assert "| a | " in text
    assert f"benchfw report {run.id} --format md" in text


def test_many_problems_and_methods_fit_one_screen_and_say_how_many_are_left_out(make, run):
    results = [
        make.result("optimizer", f"p{p}", f"m{m}", r, make.curve("gap", [9, 1 + m]), target={"gap": 1.0})
        for p in range(8)
        for m in range(12)
        for r in range(2)
    ]
    lines = comment(summarize(run, results), run).splitlines()
    assert len(lines) <= SCREEN
    assert "- … 3 more problems" in lines
    assert "… 4 more methods" in lines


def test_what_is_too_long_ends_after_a_word(make, run):
    reason = "ValueError: " + "operands could not be broadcast together " * 20
    failed = {"status": Status.FAILED, "reason": reason}
    results = [make.result("optimizer", "p", "gd", r, [], **failed) for r in range(2)]
    (fault,) = [line for line in comment(summarize(run, results), run).splitlines() if "failed" in line]
    assert len(fault) < LONGEST_ANSWER + 40
    whole, cut = fault.rsplit(" ", 1)
    assert cut == "…"
    assert whole.rsplit(" ", 1)[1] in reason.split()


def test_names_are_text(make, run):
    name = "<img src=x onerror=alert(1)> `x` | @all"
    results = [make.result("optimizer", name, name, r, make.curve("gap", [9, 1])) for r in range(2)]
    text = comment(summarize(run, results), run)
    assert text.count("<img") == text.count(r"\<img")
    assert r"\<img src=x onerror=alert(1)\>" in text
