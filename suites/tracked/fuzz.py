"""Hostile input: suites of mutated and random text, damaged stores, file names that try to do harm.

`make fuzz` tries 20,000 suites, 2,000 stores, every name with every verb, and 500 forged stores and bundles.
Each must give a result or a clean error, never a traceback, and nothing that steers a terminal; no code that
a store or a bundle names is run. It prints what it tried, and the first input that breaks the rule.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from _command import call_in_fork, call_in_process
from _forged import forge_bundle, forge_store, honest_store
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchfw.errors import BenchfwError
from benchfw.harness.agenda import check_methods
from benchfw.plan import plan
from benchfw.provenance import Environment
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.store.damage import check
from benchfw.suite import read_suite

ROOT = Path(__file__).parents[2]
SUITES = [
    path.read_bytes()
    for pattern in ("suites/**/*.toml", "plugins/*/*/suites/**/*.toml")
    for path in sorted(ROOT.glob(pattern))
]
CLAIMS = b"""
target = { gap = 1e-6 }
[[problem]]
use = "quadratic"
[[optimizer]]
use = ["gd", "nesterov"]
[[claim]]
says = "a"
source = "Theorem 1"
method = ["nesterov"]
than = "gd"
quantity = "cost to target"
problem = ["quadratic"]
across = "problems"
ratio = { within = [0.1, 0.5] }
quick = false
[[claim]]
says = "b"
order = ["nesterov", "gd"]
quantity = "gap at the end"
[[claim]]
says = "c"
method = "gd"
reaches = { above = 0.5 }
[[claim]]
says = "d"
method = "gd"
metric = "gap"
law = "linear"
rate = { below = 0.9 }
[[claim]]
says = "e"
method = "gd"
bound = "mean"
[[claim]]
says = "f"
untestable = "algebra"
"""
SUITES += [CLAIMS] * max(1, len(SUITES) // 4)  # claims have mistakes of their own
WORDS = [
    b"nan", b"-1", b"0", b"1e400", b"9" * 400, b"[[optimizer]]", b"[[problem]]", b"[]", b"{}", b"{ use = 3 }",
    b'"\\u0000"', b"1979-05-27", b"true", b'"""', b"use = [", b"[1, 2, 3]", b"[[[]]]", b'{ use = ["sgd"] }',
    b"[[claim]]", b"says = 3", b"ratio = { below = nan }", b"reaches = { within = [2, 1] }", b"bound = 1",
    b"label", b"repetitions = 1000000000", b"\xff\xfe", b"\r", b"\x00", b"\xe2\x80\xae", b"= = =", b"quick",
]  # fmt: skip


@st.composite
def suite_texts(draw: st.DrawFn) -> bytes:
    """Random bytes, or a suite of ours with pieces changed, doubled, moved or cut out."""
    if draw(st.integers(0, 9)) == 0:
        return bytes(draw(st.binary(max_size=300)))
    text = bytearray(draw(st.sampled_from(SUITES)))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 40)))
        kind = draw(st.sampled_from(["word", "bytes", "cut", "double", "line"]))
        if kind == "word":
            text[start:stop] = draw(st.sampled_from(WORDS))
        elif kind == "bytes":
            text[start:stop] = draw(st.binary(max_size=8))
        elif kind == "cut":
            del text[start:stop]
        elif kind == "double":
            text[start:start] = text[start:stop] * draw(st.integers(1, 20))
        else:
            lines = bytes(text).splitlines(keepends=True)
            moved = draw(st.permutations(range(len(lines)))) if len(lines) < 60 else range(len(lines))
            text = bytearray(b"".join(lines[k] for k in moved))
    return bytes(text)


def fuzz_suites(count: int, *, derandomize: bool = False) -> Counter[str]:
    """Plan that many texts; return how many gave a plan and how many an error."""
    registry = Registry()
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "suite.toml")

        @settings(
            max_examples=count,
            derandomize=derandomize,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(suite_texts())
        def attempt(text: bytes) -> None:
            path.write_bytes(text)
            try:
                for quick in (False, True):
                    suite = read_suite(path, quick=quick)
                    trials = plan(suite, registry, str(path))
                    check_methods(trials, registry, str(path))
                ends["plans"] += 1
            except BenchfwError:
                ends["clean errors"] += 1

        attempt()
    return ends


def sound_store(path: Path) -> None:
    """Write a store of two runs that share trials."""
    with Store(path, create=True) as store:
        for suite in ("one", "two"):
            run = store.begin(suite, suite, "text = 1\n" * 20, Environment())
            for number in range(12):
                rows = tuple(Record("gap", k, 0.1 * k, float(k), 1.0 / (k + 1)) for k in range(30))
                method = Spec("gd", {"step": 0.1 * number}, f"gd {number}")
                problem, budget = Spec("quadratic", {}, "quadratic"), Budget(iterations=30)
                key = f"{suite} {number}"
                trial = Trial("optimizer", problem, method, "numpy", 0, 7, budget, key=key)
                store.add(run, number, trial, Outcome(Status.DONE, Ending.ITERATIONS, "budget", rows))
            store.finish(run)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return the content cut short, with bytes flipped, or with a stretch overwritten."""
    kind = rng.choice(("cut", "flip", "flip", "flips", "zeros", "noise", "swap"))
    changed = bytearray(content)
    place = rng.randrange(len(changed))
    if kind == "cut":
        return content[:place]
    if kind == "swap":  # two pages, as a broken disk may
        starts = (4096 * rng.randrange(len(changed) // 4096) for _ in range(2))
        one, other = (slice(start, start + 4096) for start in starts)
        changed[one], changed[other] = changed[other], changed[one]
    elif kind.startswith("flip"):
        for _ in range(1 if kind == "flip" else rng.randrange(2, 200)):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    else:
        length = min(rng.randrange(1, 5000), len(changed) - place)
        changed[place : place + length] = bytes(length) if kind == "zeros" else rng.randbytes(length)
    return bytes(changed)


def fuzz_stores(count: int, seed: int = 0) -> Counter[str]:
    """Use, check and copy that many damaged stores; return how they ended."""
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name, "whole.sqlite")
        sound_store(whole)
        content = whole.read_bytes()
        for number in range(count):
            path = Path(name, f"{number}", "store.sqlite")
            path.parent.mkdir()
            path.write_bytes(damaged(content, rng))
            before = path.read_bytes()
            ends[f"read: {_ending(lambda path=path: _read(path))}"] += 1
            path.write_bytes(before)
            ends[f"check: {_ending(lambda path=path: check(path))}"] += 1
            if path.read_bytes() != before:
                raise AssertionError(f"a check changed store {number} of seed {seed}")
            copy = path.with_name("copy.sqlite")
            copied = _ending(lambda path=path, copy=copy: check(path, copy))
            ends[f"copy: {copied}"] += 1
            if copied == "fine" and check(copy).damage:
                raise AssertionError(f"the copy of store {number} of seed {seed} is damaged")
            ends[f"write: {_ending(lambda path=path: _write(path))}"] += 1
            for each in path.parent.iterdir():
                each.unlink()
    return ends


def _ending(work: Callable[[], object]) -> str:
    try:
        work()
    except BenchfwError:
        return "clean error"
    return "fine"


def _read(path: Path) -> None:
    with Store(path) as store:
        for run in store.runs():
            store.results(run.id)
            store.run_of(1)
        store.result(1)
        store.known(["one 1"])


def _write(path: Path) -> None:
    with Store(path, create=True) as store:
        run = store.begin("three", "three", "", Environment())
        with store.hold_run_lock(run):
            store.reserve(run, ["one 1"])
            trial = Trial("optimizer", Spec("a"), Spec("b"), "numpy", 0, 0, Budget(), key="one 1")
            outcome = Outcome(Status.DONE, Ending.ITERATIONS, "", (Record("gap", 0, 0.0, 0.0, 0.0),))
            store.add(run, 0, trial, outcome)
            store.finish(run)


NAMES = [
    "\x1b[31mred", "a\nb", "a\rb", "\x07bell", "-x", "--help=", "--", "..", "../../etc/passwd", "/dev/null",
    "/dev/full", "", " ", "a b'\"$(id)`", "%s%n{0}{x}", "é\u202etxt", "😀", "x" * 300, "caf\udce9",
    "con:aux|<>", "*", "~", "\\\\a", "[red]bold[/red]", "<script>alert(1)</script>", "=cmd|' /C calc'!A0",
    ".", "suite.toml/inside", "9" * 40, "last",
]  # fmt: skip
PLACES = [
    ("run", "{}"), ("run", "{}", "--dry-run"), ("run", "good.toml", "--store", "{}", "--no-report"),
    ("run", "good.toml", "--events", "{}", "--no-report"), ("run", "good.toml", "--plugin", "{}"),
    ("run", "good.toml", "--only", "{}"), ("run", "good.toml", "--backend", "{}"), ("runs", "--store", "{}"),
    ("report", "{}"), ("export", "{}"), ("export", "last", "-o", "{}"), ("compare", "{}", "{}"),
    ("replay", "{}"), ("list", "{}"), ("show", "{}"), ("data", "show", "{}"),
    ("time", "--size", "10", "--limit", "0.01", "{}"),
    ("run", "good.toml", "--store", "{}"), ("report", "--store", "{}", "--single-file"),
    ("export", "--store", "{}", "--bundle", "bundle.zip"), ("store", "check", "--store", "{}"),
    ("store", "check", "--copy", "{}"), ("new", "optimizer", "{}"), ("check", "{}.py"), ("{}",),
]  # fmt: skip
GOOD = """
repetitions = 1
budget = { iterations = 2 }
[[problem]]
use = "quadratic"
[[optimizer]]
use = "gd"
"""


def attempts(count: int | None = None) -> Iterator[tuple[str, ...]]:
    """Yield command lines with hostile names; a count takes as many of them, spread evenly."""
    lines = [tuple(word.replace("{}", name) for word in place) for place in PLACES for name in NAMES]
    step = 1 if count is None else max(1, len(lines) // count)
    yield from lines[::step]


def fuzz_names(
    count: int | None = None, call: Callable[..., tuple[int, str]] = call_in_process
) -> Counter[str]:
    """Call the command line with hostile names; return how often each exit code came."""
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "two", "below")  # where ../../ leads nowhere else
        folder.mkdir(parents=True)
        (folder / "good.toml").write_text(GOOD, encoding="utf-8")
        for words in attempts(count):
            code, said = call(words, folder)
            harm = [each for each in said if not (each.isprintable() or each in "\n\t\ufffd")]
            if code not in {0, 1, 2} or "Traceback" in said or harm:
                raise AssertionError(f"benchfw {words!r} ended with {code} and {harm}:\n{said}")
            ends[f"exit code {code}"] += 1
    return ends


READING = [
    ("runs",), ("runs", "--json"), ("report",), ("report", "--format", "md"), ("report", "--single-file"),
    ("export", "--format", "json"), ("export", "-o", "a.csv"), ("export", "--summary", "-o", "a.csv"),
    ("report", "--json", "--require-claims"), ("export", "--claims"),
    ("export", "--bundle", "again.zip"), ("export", "--format", "asv", "-o", "asv"), ("replay", "1"),
    ("compare", "last", "last"), ("compare", "forged.zip", "last"), ("replay", "4"), ("store", "check"),
    ("store", "check", "--copy", "copy.sqlite"), ("run", "--from-bundle", "forged.zip", "--dry-run"),
    ("run", "good.toml", "--dry-run"),
]  # fmt: skip
LONGEST_OUTPUT = 200_000  # characters: a text of megabytes goes nowhere


def fuzz_forged(
    count: int, seed: int = 0, each: int = 3, call: Callable[..., tuple[int, str]] = call_in_fork
) -> Counter[str]:
    """Read forged stores and bundles with a few verbs each; return how often each exit code came."""
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        canary, place = Path(parent, "sprung"), Path(parent, "honest")
        place.mkdir()
        honest_store(place / "made.sqlite")
        (place / "good.toml").write_text(GOOD, encoding="utf-8")
        call(("run", "good.toml", "--no-report", "--jobs", "0", "--store", "run.sqlite"), place)
        honest = sorted(place.glob("*.sqlite"))
        for number in range(count):
            folder = Path(parent, f"{number}")
            folder.mkdir()
            (folder / "good.toml").write_text(GOOD, encoding="utf-8")
            (folder / "trap.py").write_text(f"open({str(canary)!r}, 'w').close()\n", encoding="utf-8")
            forged = folder / "forged.sqlite"
            shutil.copyfile(rng.choice(honest), forged)
            forge_store(forged, folder, rng)
            forge_bundle(folder / "forged.zip", forged, rng)
            for words in rng.sample(READING, each):
                where = () if "--from-bundle" in words else ("--store", "forged.sqlite")
                code, said = call((*words, *where), folder)
                wrong = {
                    "an exit code of its own": code not in {0, 1, 2},
                    # a replay shows where a trial fails, which a forged one may
                    "a traceback": "Traceback" in said and "now:  failed" not in said,
                    "control characters": any(not (c.isprintable() or c in "\n\t\ufffd") for c in said),
                    "code run": canary.exists() or (folder / "sprung").exists(),
                    "too much said": len(said) > LONGEST_OUTPUT,
                }
                if any(wrong.values()):
                    what = ", ".join(name for name, found in wrong.items() if found)
                    kept = shutil.copytree(folder, tempfile.mkdtemp(), dirs_exist_ok=True)
                    raise AssertionError(
                        f"{what}: benchfw {' '.join(words)} ended with {code} in {kept} "
                        f"(forged {number} of seed {seed}):\n{said[-3000:]}"
                    )
                ends[f"exit code {code}"] += 1
            shutil.rmtree(folder)
    return ends


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=20_000)
    parser.add_argument("--stores", type=int, default=2_000)
    parser.add_argument("--forged", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the damage to stores")
    arguments = parser.parse_args()
    for title, fuzz in (
        ("suites", partial(fuzz_suites, arguments.suites)),
        ("stores", partial(fuzz_stores, arguments.stores, arguments.seed)),
        ("forged", partial(fuzz_forged, arguments.forged, arguments.seed)),
        ("names", fuzz_names),
    ):
        counts = ", ".join(f"{count:,} {end}" for end, count in sorted(fuzz().items()))
        print(f"{title}: {counts}", flush=True)
