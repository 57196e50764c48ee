"""What the manual and the README show is what happens: every block of every page is run, one test a page.

The rules are in docs/internals.md, "How the manual is tested".
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import yaml

from benchfw.api import Changes, plan_suites
from benchfw.cli import cli
from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.suite import parse_suite

pytest.importorskip("benchfw_firstorder", reason="the examples use the first-order plugin")

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

BLOCK = re.compile(
    r'(?:^<!-- (?P<marks>[^\n]*) -->\n)?^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
BEFORE = re.compile(r"^<!-- before: (.*) -->$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\\\.\d+)?(?:e[+\\-]*\d+)?")  # in a text that re.escape has passed over
ANY_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
CALL = re.compile(r"^(?:.* && |\$ )?(?:\w+=\S+ )*(?:python .*-m )?benchfw (.+)", re.MULTILINE)
PLACEHOLDER = re.compile(r"[A-Z]+(?:\.\w+)?")  # NAME, FILE.zip
TIMEOUT = 120  # seconds; against hanging


@dataclass(frozen=True)
class Block:
    """A fenced block, with the marks of the comment above it."""

    language: str
    title: str
    text: str
    exit_code: int = 0
    vary: bool = False
    run: bool = True


def blocks_of(page):
    found = [
        Block(
            each["language"],
            each["title"] or "",
            each["text"],
            int("".join(re.findall(r"exit code (\d+)", each["marks"] or "")) or 0),
            "numbers vary" in (each["marks"] or ""),
            "not run: " not in (each["marks"] or ""),
        )
        for each in BLOCK.finditer(page)
    ]
    assert page.count("```") == 2 * len(found), "a fence that the tests do not understand"
    return found


class Shell:
    """Runs what a page says in a folder of its own, where `benchfw` and `python` are those of the tests."""

    def __init__(self, place):
        self.folder = place / "folder"
        self.folder.mkdir()
        tools = place / "bin"
        tools.mkdir()
        modules = ("benchfw", "pytest", "pip")
        for name, words in {"python": "", **{name: f"-m {name}" for name in modules}}.items():
            tool = tools / name
            tool.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n', encoding="utf-8")
            tool.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "BENCHFW_DATA": "",
            "BENCHFW_CACHE": str(place / "cache"),
            "BENCHFW_OFFLINE": "1",
            # what a page installs is built from here, and goes into a folder of its own
            "PIP_TARGET": str(place / "installed"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it the other way round
            "PYTHONPATH": f"{place / 'installed'}:{os.environ.get('PYTHONPATH', '')}",
        }

    def write(self, blocks):
        """Write the blocks that are files."""
        for block in blocks:
            if block.title:
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")

    def __call__(self, command, exit_code=0):
        """Return all that a command prints."""
        done = subprocess.run(
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
        assert done.returncode == exit_code, f"$ {command}\n{done.stdout}"
        return done.stdout


def run_console(block, shell):
    """Run the commands of a block in order; what it shows below one must be in what that prints."""
    head, *calls = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not head, "a console block begins with a command"
    for number, call in enumerate(calls, 1):
        command, _, shown = call.replace("\\\n", "").partition("\n")
        printed = shell(command, block.exit_code if number == len(calls) else 0)
        pattern = "".join(pattern_of(line, vary=block.vary) for line in shown.rstrip().splitlines())
        assert re.search(f"^{pattern}", printed, re.MULTILINE), f"$ {command}\n{printed}\nbut shown:\n{shown}"


def pattern_of(line, *, vary):
    """Return what matches a line that a page shows: … is anything, and alone any number of lines."""
    if line.strip() == "…":
        return r"(?:.*\n)*?"
    text = re.escape(line.strip())
    if vary:
        text = re.sub(r"(?:\\-){2,}", "-+", NUMBER.sub(lambda _: ANY_NUMBER, text))
    text = re.sub(r"(?:\\ )+", " +", text).replace("…", ".*")
    return f" *{text} *\n"


def check_code(text, shell):
    """Check what a text names without running it: calls of benchfw, targets of make, files of ours."""
    for line in CALL.findall(text):
        check_call(re.split(r" [|>#]", line)[0], shell)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([\w-]+)", text):
        assert f"\n{target}:" in makefile, f"make {target}"
    for name in re.findall(r"(?<![\w/.-])(?:benchfw|docs|examples|plugins|suites|tests)/[\w/.-]*\w", text):
        assert (ROOT / name).exists(), name


def check_call(line, shell):
    words = [word for word in shlex.split(re.sub(r"[\[\]…]", "", line)) if word != "--help"]
    command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, f"no verb {words[0]!r}: benchfw {line}"
        command, words = found, words[1:]
    if not words or any(PLACEHOLDER.fullmatch(word) for word in words):
        options = {name for each in command.params for name in each.opts}
        assert {word for word in words if word.startswith("-")} <= options, f"benchfw {line}"
        return
    params = command.make_context(command.name, words).params
    if command.name == "run" and not params["plugins"]:
        changes = Changes(params["only"], params["backends"], params["repetitions"], params["quick"])
        for suite in params["suites"]:
            if not suite.endswith(".toml") or (shell.folder / suite).is_file():
                assert plan_suites(suite, (), changes)


def check_suite(text):
    """Plan a suite, or the part of one that a page shows: what is missing is made up."""
    parts = {"problem": '[[problem]]\nuse = "least-squares"', "optimizer": '[[optimizer]]\nuse = "gd"'}
    shown = tomllib.loads(text)
    if not {"optimizer", "estimator", "kernel"} & set(shown):
        text = f"{text}\n{parts['optimizer']}"
    if "problem" not in shown:
        text = f"{text}\n{parts['problem']}"
    assert plan(parse_suite(text, "suite of the manual"), Registry())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_a_page_shows_is_what_happens(path, tmp_path, monkeypatch):
    page = path.read_text(encoding="utf-8")
    shell = Shell(tmp_path)
    monkeypatch.chdir(shell.folder)
    for command in BEFORE.findall(page):
        if command.startswith("files of "):
            shell.write(
                blocks_of((path.parent / command.removeprefix("files of ")).read_text(encoding="utf-8"))
            )
        else:
            shell(command)
    program = ""
    for block in blocks_of(page):
        match block:
            case Block(title=str(title)) if title:
                assert len(re.findall(rf"\b{Path(title).stem}\b", page)) > 1, f"nothing uses {title}"
                shell.write([block])
            case Block(language="console", run=True):
                run_console(block, shell)
            case Block(language="console" | "yaml"):
                if block.language == "yaml":
                    yaml.safe_load(block.text)
                check_code(block.text, shell)
            case Block(language="python", run=True):
                program += block.text
            case Block(language="python"):
                compile(block.text, str(path), "exec")
            case Block(language="toml"):
                check_suite(block.text)
            case Block(language="text"):
                pass
            case _:
                pytest.fail(f"a block of {block.language}, which the tests do not understand")
    if program:
        (tmp_path / "page.py").write_text(program, encoding="utf-8")
        shell(f"python {tmp_path / 'page.py'}")
    check_code("\n".join(re.findall("`([^`]+)`", BLOCK.sub("", page))), shell)
