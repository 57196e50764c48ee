"""What the manual and the README show is what happens: every block of every page is run, one test a page.

The rules are in docs/internals.md, "How the manual is tested".
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import click
import pytest
import yaml

from benchfw import data
from benchfw.api.planning import plan_suites
from benchfw.cli import cli
from benchfw.errors import BenchfwError
from benchfw.plan import plan
from benchfw.provenance import Changes
from benchfw.registry import Registry
from benchfw.suite import parse_suite

pytest.importorskip("benchfw_firstorder", reason="the examples use the first-order plugin")

pytestmark = pytest.mark.families

ROOT = Path(__file__).parents[2]
PATHS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = [
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("tutorial", "claims", "data", "measuring", "notebook", "solvers", "tuning")
    ),
    *(
        ROOT / "docs" / "verbs" / f"{name}.md"
        for name in ("check", "compare", "export", "report", "run", "time")
    ),
    *sorted((ROOT / "docs" / "families").glob("*.md")),
    *sorted((ROOT / "docs" / "bridges").glob("*.md")),
]
HOOKS = ROOT / "docs" / "hooks.md"  # calls a verb that it installs: it is run, or not understood
PAGES = [
    pytest.param(
        path, id=str(path.relative_to(ROOT)), marks=[pytest.mark.thorough] * (path in {*LONG, HOOKS})
    )
    for path in PATHS
]

BLOCK = re.compile(
    r"(?:^<!-- (?P<marks>[^\n]*) -->\n)?"
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
BEFORE = re.compile(r"^<!-- before: (.*) -->$", re.MULTILINE)
CALL = re.compile(r"^(?:.* && |\$ )?(?:\w+=\S+ )*(?:python .*-m )?benchfw (.+)", re.MULTILINE)
PLAIN_CALL = re.compile(r"benchfw [^|<>&;$*`~#=]+")  # nothing for a shell in it
PLACEHOLDER = re.compile(r"[A-Z]+(?:\.\w+)?")  # NAME, FILE.zip
OURS = re.compile(r"(?<![\w/.-])(?:benchfw|docs|examples|plugins|suites|tests)/[\w/.-]*\w")
NUMBER = re.compile(r"\d[\d,]*(?:\\\.\d+)?(?:e[+\\-]*\d+)?")  # in a text that re.escape has passed over
ANY_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
COUNTED = re.compile(r"[\d.\\]+(?=\\ \\\[[^]]*\]\\ times\\ fewer)")  # of counts: the same on every machine
REST = {"problem": '[[problem]]\nuse = "least-squares"', "optimizer": '[[optimizer]]\nuse = "gd"'}
REPLAYS = "a second time, to see whether"  # what benchfw prints; a page that does not show it is run without
WITHOUT_REPLAYS = """
def without_replays():
    import functools
    import benchfw
    for name in ("compare", "run"):
        setattr(benchfw, name, functools.partial(getattr(benchfw, name), replay=False))

without_replays()
del without_replays
"""
TIMEOUT = 300  # seconds, against hanging


@dataclass(frozen=True)
class Block:
    """A fenced block, with what the comment above it says."""

    language: str
    title: str
    text: str
    marks: str

    @property
    def is_run(self):
        return "not run: " not in self.marks

    @property
    def numbers_vary(self):
        return "numbers vary" in self.marks

    @property
    def more_words(self):
        found = re.search(r"tested with ([^,]+)", self.marks)
        return f" {found[1]}" if found else ""

    @property
    def exit_codes(self):
        found = re.search(r"exit code (\d+)(?: or (\d+))?", self.marks)
        return {int(code) for code in found.groups() if code} if found else {0}


def text_of(path):
    """Return a page without what `make reference` writes into it."""
    return re.sub(
        "^<!-- made: .*?^<!-- end -->$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def blocks_of(path):
    page = text_of(path)
    found = [Block(**each.groupdict("")) for each in BLOCK.finditer(page)]
    assert page.count("```") == 2 * len(found), f"{path} has a fence that the tests do not understand"
    return found


class Shell:
    """Runs what a page says in a folder of its own, with the Python of the tests."""

    def __init__(self, place, run_inline, *, replays=False):
        self._run_inline, self._installed, self._replays = run_inline, place / "installed", replays
        self.folder, tools, installed = place / "folder", place / "bin", place / "installed"
        for folder in (self.folder, tools):
            folder.mkdir()
        for name in ("python", "benchfw", "pip", "pytest"):
            words = "" if name == "python" else f"-m {name}"
            (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n', encoding="utf-8")
            (tools / name).chmod(0o755)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            "PATH": f"{tools}:{os.environ['PATH']}",
            "BENCHFW_DATA": "",
            "BENCHFW_CACHE": str(place / "cache"),
            "BENCHFW_OFFLINE": "1",
            # what a page installs goes into a folder of its own, and nothing is fetched for it
            "PYTHONPATH": f"{installed}:{os.environ.get('PYTHONPATH', '')}",
            "PIP_TARGET": str(installed),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round
        }

    def write(self, blocks):
        """Write the blocks that are files."""
        for block in blocks:
            if block.title:
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")

    def run(self, command, exit_codes=frozenset({0})):
        """Return all that a command prints; a plain call of benchfw needs no process of its own."""
        if PLAIN_CALL.fullmatch(command) and not self._installed.exists():
            _, *words = shlex.split(command)
            if words[0] == "run" and not self._replays:
                words.append("--no-replay")
            done = self._run_inline(words, self.folder, self.environment, together=True)
        else:
            done = self._run_in_shell(command)
        assert done.returncode in exit_codes, f"$ {command}\n{done.stdout}"
        return done.stdout

    def _run_in_shell(self, command):
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )


def run_console(block, shell):
    """Run the commands of a block in order; what it shows below one must be in what that prints."""
    head, *calls = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not head, f"a console block begins with a command, not with {head!r}"
    for number, call in enumerate(calls, 1):
        command, _, shown = call.partition("\n")
        last = number == len(calls)
        printed = shell.run(command + block.more_words * last, block.exit_codes if last else {0})
        lines = [
            pattern_of(line, block.numbers_vary, counts_vary=bool(block.more_words))
            for line in shown.rstrip().splitlines()
        ]
        found = re.search(f"^{''.join(lines)}", printed, re.MULTILINE)
        assert found, f"$ {command}\n{printed}\nis not what is shown:\n{shown}"


def pattern_of(line, numbers_vary, *, counts_vary=False):
    """Return what matches a line that a page shows: … is anything, and alone any number of lines.

    Where numbers vary, the estimate of how many times fewer gradients are needed does so only if counts do.
    """
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    text = re.escape(line.strip())
    if numbers_vary:
        counted = [] if counts_vary else COUNTED.findall(text)
        text = text if counts_vary else COUNTED.sub("\0", text)
        text = re.sub(r"(?:\\-){2,}", "-+", NUMBER.sub("0", text))
        # fewer repetitions may have one value for all, which has no interval
        text = text.replace(r"0\ \[0,\ 0\]", r"0(?:\ \[0,\ 0\])?").replace("0", ANY_NUMBER)
        for each in counted:
            text = text.replace("\0", each, 1)
        # on a busy machine CPU time decides, and with one word more lines break elsewhere
        text = re.sub(r"(?:CPU\\ )?\b(time|seconds)\b", r"(?:CPU\\ )?\1", text)
        return r"\s*" + _spaced(text, r"\s+") + r"\s"
    return f" *{_spaced(text, ' +')} *\n"


def _spaced(text, spaces):
    return re.sub(r"(?:\\ )+", lambda _: spaces, text).replace("…", ".*")


def check_suite(text):
    """Plan a suite, or the part of one that a page shows: what is missing is made up."""
    shown = tomllib.loads(text)
    has_method = {"optimizer", "estimator", "kernel"} & set(shown)
    missing = [kind for kind in REST if kind not in shown and not (kind == "optimizer" and has_method)]
    trials = plan(parse_suite("\n".join([text, *(REST[kind] for kind in missing)]), "manual"), Registry())
    for name in {trial.problem.params.get("dataset") for trial in trials} - {None}:
        assert data.get_dataset(name)


def check_code(text, shell):
    """Check what a text names without running it: calls of benchfw, targets of make, files of ours."""
    for line in dict.fromkeys(CALL.findall(text)):
        check_call(re.split(r" [|>#]", line)[0], shell)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([\w-]+)", text):
        assert f"\n{target}:" in makefile, f"make {target}"
    for name in OURS.findall(text):
        assert (ROOT / name).exists(), name


def check_call(line, shell):
    """Parse a call of benchfw as the command line would; `run` of a suite that there is, is planned."""
    words = [word for word in shlex.split(re.sub(r"[\[\]…]", "", line)) if word != "--help"]
    command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command.get_command(click.Context(command), words[0]), words[1:]
        assert command is not None, f"benchfw {line}"
    if not words or any(PLACEHOLDER.fullmatch(word) for word in words):
        options = {name for each in command.params for name in each.opts}
        assert {word for word in words if word.startswith("-")} <= options, f"benchfw {line}"
        return
    params = command.make_context(command.name, words).params
    if command.name == "run" and not params["plugins"]:
        changes = Changes(params["only"], params["backends"], params["repetitions"], params["quick"])
        for suite in params["suites"]:
            here = shell.folder / suite
            if here.is_file() or not suite.endswith(".toml"):
                assert plan_suites(str(here) if here.is_file() else suite, (), changes)


def try_block(block, shell):
    match block.language:
        case "console" if block.is_run:
            run_console(block, shell)
        case "console":
            check_code(block.text, shell)
        case "python":
            compile(block.text, "manual", "exec")
        case "toml":
            check_suite(block.text)
        case "yaml":
            yaml.safe_load(block.text)
            check_code(block.text, shell)
        case other:
            assert other == "text", f"the tests do not understand blocks of {other}"


def try_page(path, place, run_inline, *, runs=True):
    """Try every block of a page; without `runs` only try its mistakes, and look at what the rest names."""
    page, blocks = text_of(path), blocks_of(path)
    if not runs:  # a mistake that a page shows is found before anything runs
        blocks = [each if each.exit_codes == {2} else replace(each, marks="not run: long") for each in blocks]
    replays = REPLAYS in page
    shell = Shell(place, run_inline, replays=replays)
    for command in BEFORE.findall(page):
        if command.startswith("files of "):
            shell.write(blocks_of(path.parent / command.removeprefix("files of ")))
        elif runs:
            shell.run(command)
    for block in blocks:
        if block.title:
            others = page.replace(block.text, "").replace(f'title="{block.title}"', "")
            assert re.search(rf"\b{Path(block.title).stem}\b", others), f"nothing uses {block.title}"
            shell.write([block])
        else:
            try_block(block, shell)
    programs = [each for each in blocks if each.language == "python" and each.is_run and not each.title]
    head = "" if replays else WITHOUT_REPLAYS
    (place / "page.py").write_text(head + "".join(each.text for each in programs), encoding="utf-8")
    if programs:
        shell.run(f"python {place / 'page.py'}")
    check_code("\n".join(re.findall("`([^`]+)`", BLOCK.sub("", page))), shell)


@pytest.mark.parametrize("path", PAGES)
def test_what_a_page_shows_is_what_happens(path, tmp_path, run_inline):
    try_page(path, tmp_path, run_inline)


@pytest.mark.parametrize("path", LONG, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_long_page_names_exists(path, tmp_path, run_inline):
    try_page(path, tmp_path, run_inline, runs=False)


@pytest.mark.parametrize(
    "text",
    [
        "```console\n$ echo one\ntwo\n```",
        "```console\n$ echo 1\n2\n```",
        "<!-- numbers vary -->\n```console\n$ echo 1 s\n2 ms\n```",
        "<!-- numbers vary -->\n```console\n$ echo '2.9 [2, 3] times fewer'\n2.8 [2, 3] times fewer\n```",
        "```console\n$ printf 'one\\ntwo\\nthree\\n'\none\nthree\n```",
        "```console\n$ false\n```",
        "<!-- exit code 1 -->\n```console\n$ true\n```",
        "<!-- tested with two -->\n```console\n$ echo one\none\n```",
        "<!-- not run: slow -->\n```console\n$ benchfw run quickstart --onyl gd\n```",
        "<!-- not run: slow -->\n```python\ndef\n```",
        "```python\nassert False\n```",
        '```python title="unused.py"\nunused = 1\n```',
        '```toml\n[[optimizer]]\nuse = "gdd"\n```',
        '```toml\n[[problem]]\nuse = "least-squares"\ndataset = "sonarr"\n```',
        "```yaml\nrun: pip install . && benchfw rnu quickstart\n```",
        "```ruby\nputs 1\n```",
        "```console\n$ true\n",
        "`benchfw run quickstrat`",
        "`benchfw run SUITE --onyl PATTERN`",
        "`benchfw data lost`",
        "`make dosc`",
        "`suites/quickstrat.toml`",
    ],
)
def test_a_page_that_shows_something_else_is_found_out(text, tmp_path, run_inline):
    page = tmp_path / "page.md"
    page.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises((AssertionError, BenchfwError, click.ClickException, SyntaxError)):
        try_page(page, tmp_path, run_inline)
