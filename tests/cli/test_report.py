"""`benchfw report` in its forms: the page, one file, Markdown, figures for a paper."""

import re

import pytest


@pytest.fixture
def ran(cli):
    done = cli("run", "bowls.toml", "--no-report")
    assert done.returncode == 0, done.stderr
    return cli


def test_a_report_is_listed_in_the_page_over_all_runs(ran):
    ran("run", "bowls.toml", "--no-report")
    assert ran("report", "2").returncode == 0
    text = (ran.folder / "reports/index.html").read_text(encoding="utf-8")
    assert 'href="run-2/index.html"' in text
    assert text.index("run 2") < text.index("run 1")
    assert "run-1/index.html" not in text  # has no page yet
    ran("report", "1")
    assert 'href="../index.html">all runs' in (ran.folder / "reports/run-1/index.html").read_text(
        encoding="utf-8"
    )


def test_another_store_has_a_page_over_its_runs_of_its_own(cli):
    cli("run", "bowls.toml", "--no-report", "--store", "reports/mine.sqlite", "--only", "noisy")
    assert cli("report", "--store", "reports/mine.sqlite").returncode == 0
    text = (cli.folder / "reports/mine-index.html").read_text(encoding="utf-8")
    assert 'href="mine-run-1/index.html"' in text
    assert not (cli.folder / "reports/index.html").exists()


def test_a_page_is_laid_over_that_of_another_run(ran):
    ran("run", "bowls.toml", "--no-report")
    done = ran("report", "2", "--against", "1")
    assert done.returncode == 0, done.stderr
    text = (ran.folder / "reports/run-2/index.html").read_text(encoding="utf-8")
    assert "(run 1)" in text
    assert "the same of run 1, over which this run is laid" in text
    itself = ran("report", "2", "--against", "2")
    assert (itself.returncode, "is run 2 itself" in itself.stderr) == (2, True)
    assert ran("report", "2", "--against", "1", "--format", "md").returncode == 2


def test_a_single_file_goes_where_it_is_told(ran):
    done = ran("report", "--single-file", "-o", "out/all.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("report: out/all.html\n")
    text = (ran.folder / "out/all.html").read_text(encoding="utf-8")
    assert "<script src=" not in text
    assert len(text) > 1_000_000


def test_markdown_goes_to_standard_output_or_to_a_file(ran):
    shown = ran("report", "--format", "md")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("## Bowls\n")
    assert ran("report", "--format", "md", "-o", "report.md").stdout == "report: report.md\n"
    assert (ran.folder / "report.md").read_text(encoding="utf-8") == shown.stdout
    refused = ran("report", "--format", "md", "-o", ".")
    assert refused.returncode == 2
    assert "use another --output" in refused.stderr


@pytest.mark.thorough
def test_figures_for_a_paper_go_to_a_folder(cli):
    pytest.importorskip("matplotlib")
    cli("run", "bowls.toml", "--no-report", "--only", "noisy")
    done = cli("report", "--format", "svg", "-o", "figures")
    assert done.returncode == 0, done.stderr
    found = list((cli.folder / "figures").iterdir())
    assert done.stdout == f"figures: {len(found) - 1} in figures, with captions.tex\n"
    assert {path.suffix for path in found} == {".svg", ".tex"}


TWO_BOWLS = """
repetitions = 6
plugins = ["bowls.py"]
budget = { iterations = 20 }
target = { gap = 0.5 }
[[problem]]
use = "bowl"
label = "one"
[[problem]]
use = "bowl"
label = "two"
size = 9
[[optimizer]]
use = "slide"
step = [0.5, 0.1]
"""


@pytest.mark.thorough
def test_what_a_page_shows_first_is_the_first_figure_for_a_paper(cli):
    pytest.importorskip("matplotlib")
    cli.write("two.toml", TWO_BOWLS)
    assert cli("run", "two.toml", "--no-report").returncode == 0
    done = cli("report", "--format", "svg", "-o", "figures")
    assert done.returncode == 0, done.stderr
    first = min((cli.folder / "figures").glob("*.svg"))
    assert first.name.startswith("01-All-problems")
    assert {"one", "two", "equal"} <= set(re.findall(r"<text[^>]*>([^<]*)<", first.read_text("utf-8")))
    captions = (cli.folder / "figures/captions.tex").read_text(encoding="utf-8")
    assert "the interval of the verdict, which allows for all comparisons" in captions
