"""A run goes to another machine in one file, runs again there, and is compared."""

import json
import shutil

import pytest


@pytest.fixture
def elsewhere(cli):
    """A folder with the bundle of a run, and nothing else of the first."""
    done = cli("run", "bowls.toml", "--no-report", "--quick", "--only", "slide", "--threads", 2)
    assert done.returncode == 0, done.stderr
    packed = cli("export", "--bundle", "bowls.zip")
    assert packed.returncode == 0, packed.stderr
    assert packed.stdout == (
        "bundle: bowls.zip (4 trials with suite and versions, without data sets and plugins' code)\n"
    )
    other = cli.elsewhere(cli.folder / "other")
    other.folder.mkdir()
    shutil.copy(cli.folder / "bowls.zip", other.folder)
    return other


def test_import_names_the_commands_for_what_benchfw_wrote_itself(cli, elsewhere):
    bundle = elsewhere("import", "bowls.zip")
    assert bundle.returncode == 2
    assert bundle.stderr.startswith("benchfw: bowls.zip is a bundle, as `benchfw export --bundle` writes; ")
    assert "`benchfw run --from-bundle bowls.zip`" in bundle.stderr
    store = next(cli.folder.rglob("*.sqlite"))
    refused = elsewhere("import", store)
    assert refused.returncode == 2
    assert f"read it with `benchfw report last --store {store}`" in refused.stderr


@pytest.mark.parametrize("verb", ["run", "show"])
def test_a_bundle_in_place_of_a_suite_is_recognised(elsewhere, verb):
    refused = elsewhere(verb, "bowls.zip")
    assert refused.returncode == 2
    assert refused.stderr == (
        "benchfw: bowls.zip is an archive, and a suite is a .toml file; run a bundle again with "
        "--from-bundle bowls.zip, or look at it with `benchfw report bowls.zip`\n"
    )


def test_a_bundle_runs_again_elsewhere_and_is_compared(cli, elsewhere):
    missing = elsewhere("run", "--from-bundle", "bowls.zip")
    assert missing.returncode == 2
    assert missing.stderr == (
        "benchfw: bowls.zip was made with bowls.py, neither installed nor given; "
        "if you trust it, pass --plugin bowls.py\n"
    )
    changed = elsewhere.write("mine/bowls.py", (cli.folder / "bowls.py").read_text() + "\nOTHER = 1\n")
    again = elsewhere("run", "--from-bundle", "bowls.zip", "--plugin", changed, "--no-report", "--jobs", 2)
    assert again.returncode == 0, again.stderr
    assert "bowls.zip: 4 trials of suite bowls" in again.stderr
    assert "  jobs: 0 in the bundle, 2 here\n" in again.stderr
    assert "  sources.bowls: " in again.stderr
    assert "numpy" not in again.stderr
    assert elsewhere.timeless() == cli.timeless()
    assert elsewhere.last_run()["title"] == "Bowls"

    compared = elsewhere("compare", "bowls.zip", "last")
    assert compared.returncode in {0, 1}, compared.stderr  # two runs of a busy machine may differ in time
    gaps = [line for line in compared.stdout.splitlines() if " gap " in line]
    assert len(gaps) == 2
    assert all(line.endswith("identical") for line in gaps)
    assert "in both runs" not in compared.stdout


def test_a_bundle_is_reported_without_a_store_in_the_words_of_its_run(cli, elsewhere):
    here, there = cli("report", "last"), elsewhere("report", "bowls.zip")
    assert there.returncode == 0, there.stderr
    *summary, page = there.stdout.splitlines()
    assert summary == here.stdout.splitlines()[:-1]
    assert page == "report: reports/bundle-bowls/index.html"
    assert (elsewhere.folder / "reports" / "bundle-bowls" / "index.html").is_file()
    assert not list(elsewhere.folder.rglob("*.sqlite"))
    told = json.loads(elsewhere("report", "bowls.zip", "--json").stdout)
    assert (told["counts"], told["store"]) == ({"done": 4}, "bowls.zip")
    one = elsewhere("report", "bowls.zip", "--single-file")
    assert one.stdout.endswith("report: reports/bundle-bowls.html\n")


def test_figures_of_a_bundle_lie_beside_its_page_and_its_name_leads_nowhere_else(elsewhere):
    drawn = elsewhere("report", "bowls.zip", "--format", "svg")
    assert "in reports/bundle-bowls/figures, with captions.tex" in drawn.stdout
    assert list((elsewhere.folder / "reports" / "bundle-bowls" / "figures").glob("*.svg"))
    for name in ("...zip", "results-v1.2.zip"):
        shutil.copy(elsewhere.folder / "bowls.zip", elsewhere.folder / name)
        assert elsewhere("report", name, "--single-file").returncode == 0
    pages = {path.relative_to(elsewhere.folder).as_posix() for path in elsewhere.folder.rglob("*.html")}
    assert pages == {
        *("reports/bundle-../index.html", "reports/bundle-...html"),
        *("reports/bundle-results-v1.2/index.html", "reports/bundle-results-v1.2.html"),
    }


def test_what_the_store_has_already_is_reported_when_a_bundle_is_compared(cli, elsewhere):
    again = cli("run", "--from-bundle", "bowls.zip", "--no-report", "--plugin", "bowls.py")
    assert "nothing was run" in again.stdout
    assert "the same versions, sources and devices here" in again.stderr
    assert "4 trials in both runs, not measured again" in cli("compare", "bowls.zip", "last").stdout


READER = """
from bowls import Bowl
from benchfw import LocalPath, hookimpl

class Read(Bowl):
    def __init__(self, backend, rng, file: LocalPath = ""):
        super().__init__(backend, rng)
        open(file).close()

@hookimpl
def register_problems(register):
    register("read", Read)
"""


def test_a_file_that_a_bundle_does_not_have_is_named_before_anything_runs(cli):
    cli.write("read.py", READER)
    cli.write(
        "read.toml", cli.suite.replace('"bowl"', '"read"\nfile = "data.txt"').replace('y"]', 'y", "read.py"]')
    )
    cli.write("data.txt", "")
    assert cli("run", "read.toml", "--no-report").returncode == 0
    assert cli("export", "--bundle", "read.zip").returncode == 0
    other = cli.elsewhere(cli.folder / "other")
    other.folder.mkdir()
    for name in ("bowls.py", "read.py", "read.zip"):
        shutil.copy(cli.folder / name, other.folder)
    done = other("run", "--from-bundle", "read.zip", "--plugin", "bowls.py", "--plugin", "read.py")
    assert done.returncode == 2
    assert done.stderr == (
        f"benchfw: read.zip: file of problem 'read' is {other.folder / 'data.txt'}, which does not exist; "
        "put it there, or change the suite\n"
    )
