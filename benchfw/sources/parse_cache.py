"""What was read from source files, kept on disk between processes: parsing them again takes far longer.

Each answer is found by a hash of all that decides it, so that none can be stale. A cache that is damaged, or
that cannot be read or written, is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

KEPT = 2000
"""How many answers are kept: the newest."""
PATIENCE = 0.5  # seconds to wait for another process that writes


def default_path() -> Path:
    """Return the file in the platform's folder for caches."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("benchfw")) / "sources.sqlite"


class ParseCache:
    """Answers by key. The file is read once, when the first is asked for, and written by `save`.

    No connection stays open in between: one may not be used on both sides of a fork.
    """

    def __init__(self, find_path: Callable[[], Path] = default_path) -> None:
        self._find_path = find_path
        self._stored: dict[str, str] | None = None
        self._added: dict[str, str] = {}

    def get(self, key: str) -> Any:
        """Return an answer, or None."""
        if self._stored is None:
            self._stored = self._load()
        checksum, _, text = self._stored.get(key, "").partition(" ")
        return json.loads(text) if text and checksum == _checksum(key, text) else None

    def put(self, key: str, value: Any) -> None:
        """Add an answer; `save` writes it."""
        text = json.dumps(value)
        self._added[key] = f"{_checksum(key, text)} {text}"

    def save(self) -> None:
        """Write the answers that were added since the last time."""
        added, self._added = self._added, {}
        if added:
            self._try(lambda database: _write(database, added), "rwc")

    def _load(self) -> dict[str, str]:
        return self._try(_read, "rw") or {}

    def _try(self, use: Callable[[sqlite3.Connection], Any], mode: str) -> Any:
        """Return what `use` makes of the database; None where anything is wrong with that."""
        import sqlite3

        try:
            path = self._find_path().absolute()
            if mode == "rwc":
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            address = f"{path.as_uri()}?mode={mode}"
            with contextlib.closing(sqlite3.connect(address, timeout=PATIENCE, uri=True)) as database:
                return use(database)
        except (sqlite3.OperationalError, OSError, RuntimeError):  # not there, locked, read-only, no home
            return None
        except sqlite3.DatabaseError:  # damaged
            with contextlib.suppress(OSError):
                path.unlink()
            return None


def _read(database: sqlite3.Connection) -> dict[str, str]:
    database.text_factory = lambda text: text.decode(errors="replace")  # a damaged row does no harm to others
    return dict(database.execute("SELECT key, value FROM answer WHERE typeof(value) = 'text'"))


def _write(database: sqlite3.Connection, answers: Mapping[str, str]) -> None:
    database.execute("PRAGMA synchronous = OFF")  # what a crash of the machine damages is made anew
    with database:
        database.execute("CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, value TEXT)")
        database.executemany("INSERT OR REPLACE INTO answer VALUES (?, ?)", answers.items())
        database.execute("DELETE FROM answer WHERE rowid <= (SELECT MAX(rowid) FROM answer) - ?", (KEPT,))


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:16]
