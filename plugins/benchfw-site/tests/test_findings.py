"""`benchfw findings`: a page about all claims, from bundles; what has changed since has no verdict."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from benchfw.claims.read import read_claim
from benchfw.registry import Registry
from benchfw.suite import parse_suite
from benchfw_site.findings import (
    count_repetitions,
    describe_changes,
    find_findings,
    read_bundles,
    read_claiming_suites,
)

from fixtures.cli import PLUGINS, CommandLine  # isort: skip

SUITE = """
title = "Bowls"  # of two steps
seed = 3
repetitions = 6
plugins = ["bowls.py"]
budget = { iterations = 100 }
target = { gap = 1e-3 }

[[problem]]
use = "bowl"

[[optimizer]]
use = "slide"
label = "fast"
step = 0.5

[[optimizer]]
use = "slide"
label = "slow"
step = 0.1

[[claim]]
says = "Fast needs at most half the steps"
source = "Bowler 1999, Theorem 2"
method = "fast"
than = "slow"
quantity = "iterations to target"
ratio = { below = 0.5 }

[[claim]]
says = "Slow is not slower"
source = "Bowler 1999, Figure 1"
method = "slow"
than = "fast"
quantity = "iterations to target"
ratio = { below = 1 }

[[claim]]
says = "Both arrive in the end"
source = "Potter 2001, §5"
method = ["fast", "slow"]
reaches = true
quick = false

[[claim]]
says = "The bowl is round"
source = "Potter 2001, §4"
untestable = "geometry, held by tests/bowls/test_bowls.py::test_it_is_round"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory, run_inline):
    """A folder with the suite and a bundle of its run."""
    line = CommandLine(tmp_path_factory.mktemp("made"), run_inline)
    shutil.copy(PLUGINS / "bowls.py", line.folder)
    line.write("bowls.toml", SUITE)
    for name in ("cpu", "gpu"):
        (line.folder / "runs" / name).mkdir(parents=True)
    done = line("run", "bowls.toml", "--no-report", BENCHFW_COMMIT="abcdef0123456789")
    assert done.returncode == 0, done.stderr
    assert line("export", "--bundle", "runs/cpu/bowls.zip").returncode == 0
    return line.folder


@pytest.fixture
def line(made, tmp_path, run_inline):
    """The same, to be changed."""
    shutil.copytree(made, tmp_path / "own")
    return CommandLine(tmp_path / "own", run_inline)


def page_of(line, *words):
    done = line("findings", "runs", "--suites", "bowls.toml", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def verdicts(page):
    """Return the verdict and what was found, by the beginning of the claim."""
    rows = (line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| \d+ \|", line))
    return {
        cells[1].partition(" (")[0]: (cells[2].split("\N{NO-BREAK SPACE}")[1], cells[3]) for cells in rows
    }


def test_a_claim_has_verdict_interval_command_machine_date_and_commit(line):
    page = page_of(line)
    found = verdicts(page)
    assert found["Fast needs at most half the steps"][0] == "holds"
    assert re.search(
        r"0\.\d+ \\?\[0\.\d+, 0\.\d+\\?\] times that of slow", found["Fast needs at most half the steps"][1]
    )
    assert found["Slow is not slower"][0] == "refuted"
    assert found["The bowl is round"] == (
        "not testable",
        "geometry, held by `test_bowls.py::test_it_is_round`",
    )
    assert page.index("## Bowler 1999") < page.index("(Theorem 2)") < page.index("## Potter 2001")
    assert "| Bowler 1999 | 1 | 1 |  |\n| Potter 2001 | 1 |  | 1 |" in page
    assert page.count("[`benchfw run bowls.toml`](#run-1)") == 3
    run = next(each for each in page.splitlines() if 'id="run-1"' in each)
    assert re.search(
        r"\| [^|]+, \d+ cores? \| \d{4}-\d\d-\d\d \| abcdef0123 \| 12, full \| `runs/cpu/bowls.zip` \|", run
    )


@pytest.mark.parametrize(
    ("words", "old", "new", "trials"),
    [
        ([], "repetitions = 6", "repetitions = 8", "12, 6 of 8 repetitions"),
        ([], "repetitions = 6", "repetitions = 5", "12, full"),
        (["--quick"], "[[problem]]", "[quick]\nrepetitions = 3\n[[problem]]", "4, quick, 2 of 3 repetitions"),
        (["--quick"], "repetitions = 6", "repetitions = 8", "4, quick"),
    ],
)
def test_a_run_with_fewer_repetitions_than_its_suite_asks_for_now_says_how_many_it_has(
    line, words, old, new, trials
):
    line("run", "bowls.toml", "--no-report", *words)
    assert line("export", "--bundle", "runs/cpu/bowls.zip").returncode == 0
    line.write("bowls.toml", SUITE.replace(old, new))
    assert f" | {trials} | `runs/cpu/bowls.zip` |" in page_of(line)


def test_trials_of_tuning_are_not_repetitions(line):
    (bundle,) = read_bundles([line.folder / "runs"])
    (suite,) = read_claiming_suites({"bowls": line.folder / "bowls.toml"}).values()
    first = bundle.results[0]
    tuned = replace(first, trial=replace(first.trial, tuning=1, repetition=6))
    assert count_repetitions(suite, bundle._replace(results=[*bundle.results, tuned])) == (6, 6)


def test_documents_are_in_the_order_of_their_file_and_figures_beside_the_page(line):
    line.write("documents.toml", 'title = "Bowls"\n[[document]]\nname = "Potter 2001"\ntitle = "The potter"\n'
               '[[document]]\nname = "bowler 1999"\nabout = "By hand."\n')  # fmt: skip
    done = line(
        "findings", "runs", "--suites", "bowls.toml", "--documents", "documents.toml", "-o", "out/page.md"
    )
    assert done.stdout == "page: out/page.md (4 findings: 2 holds, 1 refuted, 1 not testable)\n"
    page = (line.folder / "out/page.md").read_text(encoding="utf-8")
    headings = re.findall("^#.*$", page, re.MULTILINE)
    assert headings == ["# Bowls", "## The potter", "## bowler 1999", "## Runs"]
    assert "![What was found beside what is claimed](page/bowler-1999.svg)" in page
    drawing = (line.folder / "out/page/bowler-1999.svg").read_text(encoding="utf-8")
    assert ">1 · Theorem 2</text>" in drawing
    assert ">holds</text>" in drawing
    drawing = (line.folder / "out/page/potter-2001.svg").read_text(encoding="utf-8")
    assert "found, as a share of the runs" in drawing
    assert {path.name for path in (line.folder / "out/page").iterdir()} == {
        "bowler-1999.svg",
        "potter-2001.svg",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title = "Bowls"  # of two steps', 'title = "Other bowls"'),
        ("seed = 3", "seed  =  0x3"),
        ("[[problem]]", "[quick]\nrepetitions = 2\n[[problem]]"),
        ('says = "Slow is not', 'says = "Slow is never'),
        ("repetitions = 6", "repetitions = 7"),
    ],
)
def test_what_was_not_changed_keeps_its_verdict(line, old, new):
    """A title, a comment, the size of runs of another size, another claim, how often it is run."""
    line.write("bowls.toml", SUITE.replace(old, new))
    assert verdicts(page_of(line))["Fast needs at most half the steps"][0] == "holds"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("below = 0.5", "below = 0.9", "the claim has changed since the run: ratio"),
        ("iterations = 100", "iterations = 200", "the suite has changed since the run: budget"),
        ("step = 0.1", "step = 0.2", "the suite has changed since the run: [[optimizer]]"),
        (
            "ratio = { below = 0.5 }",
            "ratio = { below = 0.9 }\nquick = true",
            "the claim has changed since the run: ratio",
        ),
        (
            "ratio = { below = 0.5 }",
            "difference = { below = 0.5 }",
            "the claim has changed since the run: ratio, difference",
        ),
    ],
)
def test_what_was_changed_is_stale_and_has_no_verdict(line, old, new, said):
    line.write("bowls.toml", SUITE.replace(old, new))
    page = page_of(line)
    found = next(each for name, each in verdicts(page).items() if name.startswith("Fast"))
    assert found == ("stale", said)
    row = next(each for each in page.splitlines() if "| Fast needs" in each)
    assert not re.search("holds|times the iterations", row)


@pytest.mark.parametrize(
    ("old", "new", "now"),
    [
        ("needs at most", "needs no more than", "Fast needs no more than half the steps (Theorem 2)"),
        ("Theorem 2", "Theorem 3", "Fast needs at most half the steps (Theorem 3)"),
    ],
)
def test_a_reworded_claim_keeps_its_verdict_beside_what_the_run_had_registered(line, old, new, now):
    line.write("bowls.toml", SUITE.replace(old, new))
    (shown,) = (each for each in page_of(line).splitlines() if "| Fast needs" in each)
    before = "Fast needs at most half the steps (Bowler 1999, Theorem 2)"
    _, said, verdict, found, _ = shown.split(" | ")
    assert (said, verdict) == (now, "✓\N{NO-BREAK SPACE}holds")
    assert found.endswith(f"; registered as “{before}”")
    assert page_of(line).count("registered as") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("below = 1 }", "below = 1.0 }"),
        ('method = "slow"', 'method = ["slow"]'),
        ('method = "slow"', 'quick = true\nmethod = "slow"'),
    ],
)
def test_a_test_that_is_spelled_in_another_way_keeps_its_verdict(line, old, new):
    assert SUITE.count(old) == 1
    line.write("bowls.toml", SUITE.replace(old, new))
    page = page_of(line)
    assert verdicts(page)["Slow is not slower"][0] == "refuted"
    assert "registered as" not in page


def test_of_claims_in_the_same_words_the_one_that_differs_least_says_what_has_changed(line):
    (bundle,) = read_bundles([line.folder / "runs"])
    (suite,) = read_claiming_suites({"bowls": line.folder / "bowls.toml"}).values()
    tables = [{**each.table, "says": "It is fast"} for each in suite.claims[:2]]
    now = [read_claim(each, "") for each in (tables[0], {**tables[1], "ratio": {"below": 1.5}})]
    noted = [
        {"hash": read_claim(each, "").digest, "registered": "2026-01-01", "table": each} for each in tables
    ]
    run = replace(bundle.run, environment=replace(bundle.run.environment, claims=tuple(noted)))
    found, _ = find_findings({"bowls": replace(suite, claims=tuple(now))}, [bundle._replace(run=run)])
    assert found[0].verdict == "holds"
    assert found[1].found == "the claim has changed since the run: ratio"


def test_of_claims_with_the_same_test_those_with_the_most_similar_words_belong_together(line):
    table = SUITE[SUITE.index("[[claim]]") : SUITE.index('[[claim]]\nsays = "Slow')]
    first = table.replace("Fast needs at most half the steps", "Twice as fast, says the baker")
    line.write("bowls.toml", SUITE.replace(table, first + table))
    assert line("run", "bowls.toml", "--no-report").returncode == 0
    assert line("export", "--bundle", "runs/cpu/bowls.zip").returncode == 0
    new = table.replace("Fast needs at most half the steps", "It was never slow")
    edited = [table.replace("at most", "not even"), new, first.replace("says the", "said the")]
    line.write("bowls.toml", SUITE.replace(table, "".join(edited)))
    rows = [each.split(" | ")[1:4] for each in page_of(line).splitlines() if "(Theorem 2)" in each]
    fast, added, twice = rows
    assert "registered as “Fast needs at most half the steps (Bowler" in fast[2]
    assert "registered as “Twice as fast, says the baker (Bowler" in twice[2]
    assert added == ["It was never slow (Theorem 2)", "…\N{NO-BREAK SPACE}stale",
                     "the claim was added or changed after the run"]  # fmt: skip


def test_without_a_bundle_a_claim_is_missing_and_what_nobody_can_test_is_not(line):
    (line.folder / "runs/cpu/bowls.zip").unlink()
    found = verdicts(page_of(line))
    assert found.pop("The bowl is round")[0] == "not testable"
    assert {verdict for verdict, _ in found.values()} == {"missing"}
    assert "`benchfw run bowls.toml`" in page_of(line)


def test_a_missing_claim_says_what_data_a_run_needs():
    text = """
    [[problem]]
    use = "bowl"
    dataset = "big-one"
    [[problem]]
    use = "bowl"
    label = "synthetic"
    dataset = "counts-like(rows=10)"
    [[problem]]
    use = "bowl"
    label = "stream"
    dataset = "mnist-8m-like"
    [[optimizer]]
    use = "fast"
    [[claim]]
    says = "Fast arrives"
    method = "fast"
    reaches = true
    """
    with Registry().activate():
        ((found,), _) = find_findings({"big": parse_suite(dedent(text), "big")}, [])
    assert found.found == "no bundle of this suite, which reads the data set big-one"


def test_two_bundles_of_a_suite_are_two_lines_with_their_machines_and_commands(line):
    done = line("run", "bowls.toml", "--no-report", "--quick", "--only", "fast", "--threads", 2)
    assert done.returncode == 0, done.stderr
    assert line("export", "--bundle", "runs/gpu/bowls.zip").returncode == 0
    page = page_of(line)
    rows = [each for each in page.splitlines() if "Fast needs" in each]
    assert [row.split(" | ")[2].split("\N{NO-BREAK SPACE}")[1] for row in rows] == ["holds", "not testable"]
    assert "(#run-1) on " in rows[0]
    assert "[`benchfw run bowls.toml --quick --only fast --threads 2`](#run-2) on " in rows[1]
    assert ", quick | `runs/gpu/bowls.zip` |" in page
    assert "| document | holds | not testable | differs by run |" in page
    assert "| Bowler 1999 |  |  | 2 |\n| Potter 2001 | 1 | 1 |  |" in page
    assert page.count("The bowl is round") == 1
    missing = next(each for each in page.splitlines() if "Both arrive" in each and "missing" in each)
    assert missing.endswith("it is about the full size, and the run was quick | `benchfw run bowls.toml` |")


def test_a_claim_that_two_runs_decide_alike_is_counted_once(line):
    assert line("run", "bowls.toml", "--no-report").returncode == 0
    assert line("export", "--bundle", "runs/gpu/bowls.zip").returncode == 0
    page = page_of(line)
    assert page.count("Slow is not slower (Figure 1)") == 2
    assert "| Bowler 1999 | 1 | 1 |  |\n| Potter 2001 | 1 |  | 1 |" in page


def test_a_bundle_and_its_copy_are_one_run(line):
    shutil.copy(line.folder / "runs/cpu/bowls.zip", line.folder / "runs/gpu/bowls.zip")
    assert page_of(line).count("Slow is not slower (Figure 1)") == 1


def test_of_two_suites_of_one_name_the_bundle_is_that_of_the_one_it_has_more_in_common_with(line):
    other = SUITE.replace("bowl", "hill").replace("slide", "climb").replace("Fast", "Uphill, it")
    line.write("other/bowls.toml", other.replace("iterations = 100", "iterations = 50"))
    line.write("bowls.toml", SUITE.replace("iterations = 100", "iterations = 50"))
    page = page_of(line, "--suites", "other/bowls.toml")
    found = verdicts(page)
    assert found["Fast needs at most half the steps"][0] == "stale"
    assert found["Uphill, it needs at most half the steps"][0] == "missing"


def test_bundles_that_no_suite_wants_and_bad_input_are_one_sentence(line):
    line.write("else.toml", SUITE)
    done = line("findings", "runs", "--suites", "else.toml")
    assert done.stderr == (
        "benchfw: runs/cpu/bowls.zip is not used: its suite 'bowls' makes no claims here\n"
    )
    line.write("bad.toml", '[[document]]\nnane = "x"\n')
    line.write("odd.toml", '[[document]]\nname = "x"\ntitel = "x"\n')
    for words, said in {
        ("nowhere",): "no bundle at nowhere",
        ("bowls.py",): "bowls.py is not a bundle that `benchfw export",
        ("--documents", "bad.toml"): "each with a name",
        ("--documents", "odd.toml"): "unknown key 'titel'; did you mean 'title'?",
        ("--suites", "bowlz"): "no suite 'bowlz'",
    }.items():
        done = line("findings", *words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert said in done.stderr


def test_runs_of_another_commit_are_counted(line):
    words = ("findings", "runs", "--suites", "bowls.toml", "-o", "page.md")
    assert line(*words, BENCHFW_COMMIT="abcdef0123456789").stdout.count("\n") == 1
    other = line(*words, BENCHFW_COMMIT="fedcba9876543210").stdout
    assert other.endswith("\n1 of 1 run was made at a commit other than fedcba9876\n")


def test_a_bundle_with_a_suite_that_cannot_be_read_any_more_is_stale(line):
    text = SUITE.replace('title = "Bowls"', 'titel = "Bowls"')
    line.write("bowls.toml", SUITE)
    (bundle,) = read_bundles([line.folder / "runs"])
    (suite,) = read_claiming_suites({"bowls": line.folder / "bowls.toml"}).values()
    assert describe_changes(suite, bundle.run) == ""
    assert "unknown key 'titel'" in describe_changes(suite, replace(bundle.run, text=text))
    assert json.dumps(bundle.run.environment.to_json()).count(str(line.folder)) == 0


@pytest.mark.thorough
def test_bundles_are_made_once_and_again_where_the_suite_has_changed(line):
    suites = line.folder / "suites"
    suites.mkdir()
    shutil.copy(line.folder / "bowls.py", suites)
    suite = line.write("suites/small.toml", SUITE)

    def make(*words):
        script = Path(__file__).parents[3] / "suites" / "tracked" / "bundles.py"
        command = [sys.executable, script, "--only-suites", "sm*", *words]
        done = subprocess.run(command, cwd=line.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, said = make("--commit", "abc")
    assert (code, said.count("small: ")) == (0, 1), said
    (bundle,) = read_bundles([line.folder / "findings"])
    assert bundle.run.environment.changes.quick
    assert bundle.run.environment.project.commit == "abc"
    assert "small: there already\n" in make()[1]
    suite.write_text(SUITE.replace("Fast needs at most", "Fast needs no more than"), encoding="utf-8")
    assert "small: there already\n" in make()[1]
    suite.write_text(SUITE.replace("below = 0.5", "below = 0.6"), encoding="utf-8")
    assert "there already" not in make()[1]
    code, said = make("--backend", "cupy")
    assert (code, "not made" in said) == (1, True) or "kB" in said  # where there is a GPU
