"""Stores and bundles that somebody forged: all checksums are right, what they hold means harm."""

from __future__ import annotations

import contextlib
import itertools
import json
import lzma
import random
import sqlite3
import struct
import zipfile
from pathlib import Path
from typing import Any

from benchfw.claims import Claim
from benchfw.provenance import Environment
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial
from benchfw.store import Store
from benchfw.store.rows import digest_of, digest_of_trial, now
from benchfw.store.schema import SELECT_LINKS, SELECT_RUN, SELECT_TRIAL, SELECT_TRIAL_RECORDS
from benchfw.suite import parse_suite

SUITE = """
repetitions = 2
budget = { iterations = 2 }
[[problem]]
use = "quadratic"
[[optimizer]]
use = "gd"
[[claim]]
says = "It gets there"
source = "Theorem 1, page 2"
method = "gd"
problem = ["quadratic"]
quantity = "gap at the end"
value = { below = 0.5 }
[[claim]]
says = "It keeps to its bound"
method = "gd"
bound = true
"""
TRAP = "open({canary!r}, 'w').close()\n"
TEXTS = [
    "", "trap", "trap.py", "./trap.py", "{folder}/trap.py", "../trap.py", "trap:open", "os:system", "benchfw",
    "$(touch sprung)", "`touch sprung`", "{{__import__('trap')}}", "__import__('trap')", "--plugin=trap.py",
    "\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\r\nb", "\u202etxt", "\x00", "\udce9", "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>", "{0.__class__}", "%s%n", "../../../../etc/passwd", "/dev/zero", "nan",
    "é" * 100, "x" * 3_000_000,
]  # fmt: skip
VALUES = [
    None, -1, 0, 1, 2**63 - 1, -(2**63), 1e308, -1e308, 5e-324, float("inf"), float("-inf"), 0.5, b"",
    b"\x80\x04.", b"\xff" * 100, "12", "12.5abc",
]  # fmt: skip
DOCUMENTS = [
    "", "{}", "[]", "null", "7", "NaN", '"text"', "[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"use": 5}',
    '{"use": ["trap"]}', '{"use": {"use": "trap"}}', '{"use": "trap", "use": "gd"}', '{"\\u0000": 1e999}',
]  # fmt: skip
STATEMENTS = [
    "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM trial; END",
    "DROP TABLE record; CREATE VIEW record AS WITH n AS (SELECT 1 UNION ALL SELECT * FROM n) SELECT * FROM n",
    "DELETE FROM trial", "DELETE FROM link", "DELETE FROM run", "DELETE FROM record",
    "INSERT INTO reservation SELECT key, 1 FROM trial LIMIT 1",
    "PRAGMA user_version = 99", "PRAGMA application_id = 7", "ALTER TABLE trial ADD COLUMN more",
    "INSERT INTO sqlite_sequence VALUES ('run', 9223372036854775807)", "UPDATE sqlite_sequence SET seq = 'x'",
]  # fmt: skip
PAGE = 4096
FIXED = {"digest", "id", "run", "trial", "number"}


def honest_store(path: Path) -> None:
    """Write a store of one finished run that plans as its suite says, with a bit of everything."""
    with Store(path, create=True) as store:
        claims = tuple(
            {"hash": each.digest, "registered": now(), "table": dict(each.table)}
            for each in parse_suite(SUITE, "forged").claims
        )
        environment = Environment(trials=4, datasets={"sonar": "0" * 12}, claims=claims)
        run = store.begin("forged", "Forged", SUITE, environment)
        for number in range(4):
            records = [Record("gap", k, 0.1 * k, float(k), 1.0 / (k + 1)) for k in range(5)]
            records.append(Record("gap", 4, 0.4, 4.0, 0.5, "bound"))
            method = Spec("gd", {"step": 0.1}, ("gd", "other")[number // 2])
            problem, budget = Spec("quadratic", {}, "quadratic"), Budget(iterations=4)
            trial = Trial("optimizer", problem, method, "numpy", number % 2, 7, budget, key=f"{number}")
            status, ending = (Status.DONE, Ending.ITERATIONS) if number < 3 else (Status.FAILED, Ending.FAULT)
            facts, caveats = {"rank": 3.0}, ("it is small",)
            outcome = Outcome(
                status, ending, "because", tuple(records), facts, caveats, cost_unit="gradients"
            )
            store.add(run, number, trial, outcome)
        store.finish(run)


def forge_store(path: Path, folder: Path, rng: random.Random) -> None:
    """Change an honest store in a few places, and make its checksums anew."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = DELETE")
        steps = itertools.count()  # a table may have become a view without end
        base.set_progress_handler(lambda: next(steps) > 1000, 10_000)
        for _ in range(rng.choice((1, 1, 2, 5))):
            with contextlib.suppress(sqlite3.Error, ValueError, OverflowError, RecursionError):
                if rng.random() < 0.1:
                    base.executescript(rng.choice(STATEMENTS))
                else:
                    _change_value(base, folder, rng)
        with contextlib.suppress(sqlite3.Error):
            _seal(base)
    if rng.random() < 0.03:
        with contextlib.suppress(sqlite3.Error, TypeError, IndexError):  # where there is no such table
            build_tower(path, rng.choice(("run", "trial")))


def build_tower(path: Path, table: str, height: int = 8, width: int = 200) -> None:
    """Put pages above a table of a store each of which names the one below it many times."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = DELETE")
        (root,) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    content = path.read_bytes()
    pages = [bytearray(content[start : start + PAGE]) for start in range(0, len(content), PAGE)]
    pages.append(pages[root - 1])  # the rows
    for level in range(height):
        child = struct.pack(">I", len(pages))
        start = PAGE - len(child) - 1
        page = bytearray(PAGE)
        page[:12] = struct.pack(">BHHHB", 5, 0, width, start, 0) + child
        page[12 : 12 + 2 * width] = struct.pack(">H", start) * width
        page[start:] = child + b"\1"
        pages[root - 1 : root] = [page]
        if level < height - 1:
            pages.append(page)
    pages[0][28:32] = struct.pack(">I", len(pages))
    path.write_bytes(b"".join(pages))


def _change_value(base: sqlite3.Connection, folder: Path, rng: random.Random) -> None:
    table = rng.choice(("run", "run", "trial", "trial", "link", "record"))
    columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})") if row[1] not in FIXED]
    column = rng.choice(columns)
    rows = base.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()
    if not rows:
        return
    old = rng.choice(rows)[0]
    new = _forge(old, folder, rng)
    base.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (new, old))


def _forge(old: Any, folder: Path, rng: random.Random) -> Any:
    """Return something else in the place of a value; what is JSON mostly stays JSON."""
    kind = rng.random()
    if isinstance(old, str) and old[:1] in "{[" and old:
        if kind < 0.2:
            return rng.choice(DOCUMENTS)
        document = json.loads(old)
        claims = document.get("claims") if isinstance(document, dict) else None
        if claims and kind < 0.6:
            return json.dumps({**document, "claims": _forge_claims(claims, folder, rng)})
        return json.dumps(_forge_leaf(document, folder, rng))
    if isinstance(old, str) and "\n" in old and kind < 0.7:  # a suite
        line = rng.choice(('plugins = ["trap.py"]', 'plugins = ["trap"]', 'backends = ["trap"]', "seed = 3"))
        return line + rng.choice((old, old.replace('"gd"', '"trap"'), old.replace('"quadratic"', '"trap:x"')))
    return _evil(folder, rng)


def _evil(folder: Path, rng: random.Random) -> Any:
    if rng.random() < 0.6:
        return rng.choice(TEXTS).replace("{folder}", str(folder))
    return rng.choice(VALUES)


def _forge_leaf(found: Any, folder: Path, rng: random.Random) -> Any:
    """Change one value, or one name, somewhere in a document."""
    evil = _evil(folder, rng)
    evil = evil.hex() if isinstance(evil, bytes) else evil
    if isinstance(found, dict) and found and rng.random() < 0.9:
        name = rng.choice(list(found))
        if rng.random() < 0.1:
            return {**found, str(evil): found[name]}
        return {**found, name: _forge_leaf(found[name], folder, rng)}
    if isinstance(found, list):
        return [*found, evil] if rng.random() < 0.8 else rng.choice(([], [[evil]], {"use": evil}))
    if isinstance(found, dict):
        return rng.choice(({}, {**found, "use": evil}, {**found, str(evil): evil}, [evil]))
    return rng.choice((evil, evil, [evil], {"use": evil}, {str(evil): evil}))


def _forge_claims(claims: list[dict[str, Any]], folder: Path, rng: random.Random) -> list[Any]:
    """Change one claim; mostly its hash is that of what it says now."""
    place = rng.randrange(len(claims))
    changed = dict(claims[place])
    if rng.random() < 0.3:
        return [*claims[:place], _forge_leaf(changed, folder, rng), *claims[place + 1 :]]
    changed["table"] = _forge_leaf(changed["table"], folder, rng)
    if isinstance(changed["table"], dict):
        changed["hash"] = Claim("", "value", table=changed["table"]).digest
    return [*claims[:place], changed, *claims[place + 1 :]]


def _seal(base: sqlite3.Connection) -> None:
    for (number,) in base.execute("SELECT id FROM run").fetchall():
        row = base.execute(SELECT_RUN, (number,)).fetchone()[1:]
        base.execute("UPDATE run SET digest = ? WHERE id = ?", (digest_of(row), number))
        for _, *link in base.execute(SELECT_LINKS, (number,)).fetchall():
            digest = digest_of(tuple(link))
            base.execute("UPDATE link SET digest = ? WHERE run = ? AND position = ?", (digest, *link[:2]))
    for (number,) in base.execute("SELECT id FROM trial").fetchall():
        row = base.execute(SELECT_TRIAL, (number,)).fetchone()[1:]
        records = base.execute(SELECT_TRIAL_RECORDS, (number,)).fetchall()
        base.execute("UPDATE trial SET digest = ? WHERE id = ?", (digest_of_trial(row, records), number))


def forge_bundle(path: Path, store: Path, rng: random.Random) -> None:
    """Pack a forged store as a bundle, sometimes in a way that no honest one is packed."""
    kind = rng.random()
    packing = zipfile.ZIP_DEFLATED if kind < 0.05 else zipfile.ZIP_STORED
    content = store.read_bytes()
    if 0.05 < kind < 0.1:
        content += bytes(30_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("../trap.py", "trap.py", "/tmp/trap.py")[: rng.randrange(4)]:
            archive.writestr(name, "open('sprung', 'w')")
        content = lzma.compress(content)
        entry = zipfile.ZipInfo("run.sqlite.xz")
        entry.compress_type = packing
        if kind > 0.95:
            entry.external_attr = 0o120777 << 16  # a link
            content = b"/etc/passwd"
        archive.writestr(entry, content)
    if 0.1 < kind < 0.15:
        whole = path.read_bytes()
        path.write_bytes(whole[: rng.randrange(len(whole))])
