"""`benchfw publish`: a static site of runs and bundles, in which nothing of a stranger's can act."""

import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from fixtures.cli import PLUGINS  # isort: skip

EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture
def site(cli):
    """A site of a run in the store and of another as a bundle."""
    cli("run", "bowls.toml", "--no-report")
    cli("export", "last", "--bundle", "bowls.zip")
    cli("run", "bowls.toml", "--no-report", "--jobs", "0")
    done = cli("publish", "last", "bowls.zip", "--to", "site", "--title", "Ours")
    assert done.returncode == 0, done.stderr
    assert "site: site/index.html (1 suite, 2 runs)" in done.stdout
    return cli.folder / "site"


class Links(HTMLParser):
    """Collects the links of a page, and the tags and attributes that could act."""

    def __init__(self, page):
        super().__init__()
        self.links, self.acting = [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name in {"href", "src"}]
        self.acting += [name for name, _ in attributes if name.startswith("on")]
        self.acting += [tag] * (tag in {"img", "iframe", "object", "embed", "form"})


def test_every_link_of_the_site_leads_to_a_file_of_it(site):
    pages = list(site.rglob("*.html"))
    assert {each.relative_to(site).parts[0] for each in pages} == {"index.html", "suites", "problems", "runs"}
    for page in pages:
        for link in Links(page).links:
            place = unquote(link.partition("#")[0])
            assert not place or (page.parent / place).resolve().is_relative_to(site.resolve())
            assert not place or (page.parent / place).is_file(), f"{page}: {link}"


def test_every_card_has_a_picture_a_sentence_a_report_and_a_bundle_to_run_again(site, cli):
    text = (site / "index.html").read_text(encoding="utf-8")
    assert text.count('<li data-words="') >= 1
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in text
    (slug, *_) = re.findall(r'href="bundles/([\w-]+)\.zip"', text)
    done = cli(
        "run",
        "--from-bundle",
        f"site/bundles/{slug}.zip",
        "--plugin",
        "bowls.py",
        "--no-report",
        "--store",
        "again.sqlite",
    )
    assert done.returncode == 0, done.stderr
    assert "8 trials (8 done)" in done.stdout


def test_a_report_of_the_site_leads_back_to_the_index_and_leaves_its_records_to_the_bundle(site):
    pages = list((site / "runs").glob("*/index.html"))
    assert len(pages) == 2
    for page in pages:
        links = Links(page).links
        assert "../../index.html" in links
        assert any(link.startswith("../../bundles/") for link in links)
        assert "records.csv" not in links
        assert not (page.parent / "records.csv").exists()


def test_a_card_and_its_report_say_what_of_the_suite_was_left_out(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "step=0.5", "--repetitions", "2")
    assert cli("publish", "last", "--to", "site").returncode == 0
    said = "ot the whole suite: only &#39;step=0.5&#39;, 2 repetitions"
    assert f"n{said}" in (cli.folder / "site" / "index.html").read_text(encoding="utf-8")
    (page,) = (cli.folder / "site" / "runs").glob("*/index.html")
    assert f"N{said}" in page.read_text(encoding="utf-8")


def test_a_page_of_a_suite_has_its_history_and_a_leaderboard_for_each_run(site):
    (page,) = (site / "suites").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert len(re.findall(r'aria-label="Report of [\w-]+"', text)) == 2
    assert text.count("<h2>Leaderboards, ") == 2
    assert "is not a test" in re.sub(r"\s+", " ", text)


def test_nothing_that_a_bundle_says_can_act_in_a_page(cli):
    shutil.copy(PLUGINS / "bowls.py", cli.folder)
    suite = cli.suite.replace('title = "Bowls"', f"title = '{EVIL}'").replace(
        'use = "slide"', f"use = \"slide\"\nlabel = '{EVIL}'"
    )
    (cli.folder / "bowls.toml").write_text(suite.replace("step = [0.5, 0.1]", "step = 0.5"), encoding="utf-8")
    assert cli("run", "bowls.toml", "--no-report").returncode == 0
    cli("export", "last", "--bundle", "evil.zip")
    done = cli("publish", "evil.zip", "--to", "site", "--markdown", "page.md", "--title", EVIL)
    assert done.returncode == 0, done.stderr
    for page in (cli.folder / "site").rglob("*.html"):
        assert Links(page).acting == [], page
        policy = re.search(r"script-src ([^;]*);", page.read_text(encoding="utf-8"))
        assert "unsafe" not in policy[1]
    page = (cli.folder / "page.md").read_text(encoding="utf-8")
    assert page.count("<img") == page.count(r"\<img")


def test_a_page_for_a_manual_has_a_picture_and_a_command_for_each_suite(site, cli):
    done = cli("publish", "bowls.zip", "--markdown", "docs/gallery.md")
    assert done.returncode == 0, done.stderr
    text = (cli.folder / "docs" / "gallery.md").read_text(encoding="utf-8")
    (picture,) = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert (cli.folder / "docs" / picture).read_text(encoding="utf-8").startswith("<svg")
    assert "`benchfw run --from-bundle bowls.zip --plugin bowls.py`" in text


def test_problem_pages_count_runs_and_not_tables_and_a_run_given_twice_is_one(cli):
    suite = cli.suite.replace("repetitions = 2", "repetitions = 2\ntarget = { gap = 1e-2 }")
    (cli.folder / "bowls.toml").write_text(suite, encoding="utf-8")
    cli("run", "bowls.toml", "--no-report")
    cli("export", "last", "--bundle", "bowls.zip")
    done = cli("publish", "last", "bowls.zip", "last", "--to", "site")
    assert "(1 suite, 1 run)" in done.stdout
    repeated = "benchfw: run 1 of {} is that of reports/benchfw.sqlite: it is shown once\n"
    assert done.stderr == repeated.format("bowls.zip") + repeated.format("reports/benchfw.sqlite")
    (page,) = (cli.folder / "site" / "problems").glob("*.html")
    text = page.read_text(encoding="utf-8")
    assert text.count("<h2>") == 2
    assert "Leaderboards of 1 run." in text


def test_a_figure_of_a_plugin_that_cannot_be_drawn_is_named_and_the_site_is_written(cli):
    cli("run", "bowls.toml", "--no-report", "--only", "noisy")
    cli.write(
        "odd.py",
        "from benchfw import hookimpl\n\n\n@hookimpl\ndef register_figures(register):\n"
        "    register('odd', lambda summary: 1 / 0)\n",
    )
    done = cli("publish", "last", "--to", "site", "--plugin", "odd.py")
    assert done.returncode == 0, done.stderr
    assert "benchfw: figure 'odd' of odd.py raised ZeroDivisionError" in done.stderr


def test_the_commands_of_a_site_run_a_suite_of_ones_own_again(cli):
    cli("run", "bowls.toml", "--no-report", "--plugin", "bowls.py", "--only", "noisy")
    assert cli("publish", "last", "--to", "site", "--markdown", "page.md").returncode == 0
    (page,) = (cli.folder / "site" / "suites").glob("*.html")
    (shown,) = re.findall(r"<pre tabindex=\"0\">(.*?)</pre>", page.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line.partition("    #")[0] for line in shown.splitlines()]
    (slug,) = re.findall(r"--from-bundle ([\w-]+)\.zip", commands[0])
    assert commands == [
        f"benchfw run --from-bundle {slug}.zip --plugin bowls.py",
        "benchfw run bowls.toml --only noisy",
    ]
    assert f"`{commands[1]}`" in (cli.folder / "page.md").read_text(encoding="utf-8")
    (report,) = (cli.folder / "site" / "runs").glob("*/index.html")
    assert f"<code>{commands[0]}</code>" in report.read_text(encoding="utf-8")
    shutil.copy(cli.folder / "site" / "bundles" / f"{slug}.zip", cli.folder)
    for command in commands:
        done = cli(*command.split()[1:], "--no-report")
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["last"], "name the folder of the site with --to, or a page with --markdown"),
        (["nothing.zip", "--to", "site"], "the bundle nothing.zip cannot be read"),
        (["empty", "--to", "site"], "no bundle in empty; `benchfw export --bundle` makes one"),
        (
            ["last", "--to", "mine"],
            "mine/index.html was not written by benchfw and would be replaced; use another --to",
        ),
        (["99", "--to", "site"], "no run '99' in reports/benchfw.sqlite"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(cli, words, said):
    cli("run", "bowls.toml", "--no-report")
    (cli.folder / "empty").mkdir()
    (cli.folder / "mine").mkdir()
    (cli.folder / "mine" / "index.html").write_text("<p>my page", encoding="utf-8")
    done = cli("publish", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
