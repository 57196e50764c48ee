"""`benchfw export --format asv`: what ASV itself reads and draws."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from benchfw.errors import BenchfwError
from benchfw.provenance import Environment, Machine, Project, Run
from benchfw_exchange.asv import write_asv

ROOT = Path(__file__).parents[3]
COMMIT = "0123456789" * 4
BENCHMARK = "Small.AddScaled.track_seconds_per_call"
INKED = """[...document.querySelectorAll('#main-graph canvas')].map((each) => each.getContext('2d')
    .getImageData(0, 0, each.width, each.height).data.filter((value, index) => index % 4 === 3 && value))
    .reduce((sum, each) => sum + each.length, 0)"""
ROWS = [
    ("bowl", "noisy (scale=2)", "numpy", "variance", 4.0, 3.9, 4.1, 5),
    ("bowl", "noisy (scale=2)", "numpy", "seconds_per_draw", 1e-5, 9e-6, 1.1e-5, 5),
    ("wide", "noisy (scale=2)", "cupy", "variance", float("inf"), 1.0, 9.0, 5),
]


@pytest.fixture
def run(tmp_path):
    """Return a function that makes a run of a commit."""

    def make(**project):
        machine = Machine("Linux", "Example 3000", 8, 2**34)
        environment = Environment(machine, "3.11.7", project=Project(**project) if project else None)
        return Run(
            1, "bowls", "", tmp_path / "x.sqlite", "2026-01-01T00:00:00+00:00", environment=environment
        )

    return make


def test_asv_reads_the_results(run, tmp_path):
    results = pytest.importorskip("asv.results")
    path = write_asv(run(commit=COMMIT, changed=False), ROWS, tmp_path)
    read = results.Results.load(str(path), machine_name="Example3000")
    name = "Bowls.NoisyScale2.track_variance"
    params = read.get_result_params(name)
    assert params == [["'bowl'", "'wide'"], ["'numpy'", "'cupy'"]]
    assert read.get_result_value(name, params) == [4.0, None, None, None]
    benchmark = json.loads((tmp_path / "benchmarks.json").read_text())[
        "Bowls.NoisyScale2.track_seconds_per_draw"
    ]
    assert (benchmark["unit"], benchmark["param_names"]) == ("s", ["problem", "backend"])


def test_a_second_suite_adds_to_the_first(run, tmp_path):
    write_asv(run(commit=COMMIT, changed=False), ROWS[:1], tmp_path)
    write_asv(run(commit=COMMIT, changed=False), ROWS[1:2], tmp_path)
    names = set(json.loads((tmp_path / "benchmarks.json").read_text()))
    assert {"Bowls.NoisyScale2.track_variance", "Bowls.NoisyScale2.track_seconds_per_draw"} <= names


def test_methods_with_similar_names_have_benchmarks_of_their_own(run, tmp_path):
    methods = ["gd (step=1.5)", "gd (step=15)", "gd a/b", "gd a-b"]
    rows = [("bowl", each, "numpy", "variance", 4.0, 3.9, 4.1, 5) for each in methods]
    path = write_asv(run(commit=COMMIT, changed=False), rows, tmp_path)
    assert [each.split(".")[1] for each in json.loads(path.read_text())["results"]] == [
        "GdStep1Point5", "GdStep15", "GdAB", "GdAB_2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ({}, "outside a git repository"),
        ({"commit": COMMIT, "changed": True}, "uncommitted changes"),
        ({"commit": "../../up", "changed": False}, "names a commit that git cannot have"),  # a forged store
    ],
)
def test_a_run_of_no_commit_is_refused(run, tmp_path, project, said):
    with pytest.raises(BenchfwError, match=said):
        write_asv(run(**project), ROWS, tmp_path)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The folder of a page that ASV made of an exported run."""
    folder = tmp_path_factory.mktemp("published")

    def call(*words):
        who = {f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            words,
            cwd=folder,
            env={**os.environ, **who},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    python = sys.executable
    config = {
        "version": 1,
        "project": "bowls",
        "repo": ".",
        "branches": ["HEAD"],
        "results_dir": ".asv/results",
    }
    (folder / "asv.conf.json").write_text(json.dumps({**config, "html_dir": ".asv/html"}))
    (folder / ".gitignore").write_text("reports/\n.asv/\n")
    (folder / "small.toml").write_text(
        'repetitions = 1\nbudget = { iterations = 3 }\n[[kernel]]\nuse = "add-scaled"\nsize = 100\n'
    )
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "bowls"]):
        call("git", *words)
    call(python, "-m", "benchfw", "run", "small.toml", "--no-report")
    call(python, "-m", "benchfw", "export", "--format", "asv", "-o", ".asv/results")
    call(python, "-m", "asv", "publish")
    return folder / ".asv" / "html"


@pytest.mark.thorough
def test_asv_publishes_what_the_command_line_exports(published):
    shown = json.loads((published / "index.json").read_text())["benchmarks"]
    assert BENCHMARK in shown


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm to bring the libraries of ASV's page")
@pytest.mark.thorough
def test_the_page_of_asv_draws_its_graphs_without_a_network(published, browser):
    words = [sys.executable, ROOT / "suites/tracked/asv_page.py", published]
    done = subprocess.run(words, check=True, timeout=300, capture_output=True, text=True)
    if "needs a network" in done.stderr:
        pytest.skip("npm cannot bring the libraries of ASV's page")
    handler = functools.partial(Silent, directory=published)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        try:
            page = browser.open(f"{address}#{BENCHMARK}")
            page.wait_for("document.querySelector('#main-graph canvas.flot-base')")
            inked = page.evaluate(INKED)
            page.close()
        finally:
            server.shutdown()
    assert inked > 100
    assert [each for each in page.requests if not each.startswith(address)] == []


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing of a request."""
