"""Names of files and of benchmarks, made of labels: two labels never share one.

Where a system takes names that differ only in case for one, as macOS and Windows do, such labels share it.
"""

from __future__ import annotations

import os
import re

LONGEST = 120  # bytes of a part of a path; most systems take 255
_DEVICES = r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])"  # of Windows, whatever follows a dot
_UNSAFE = re.compile(rf'[\x00-\x1f\x7f<>:"/\\|?*%]|^[. ]|[. ]$|(?i:^(?={_DEVICES} *(?:\.|$)).)')
_HASHED = re.compile(r"-[0-9a-f]{16}\Z")


def part_of_path(label: str) -> str:
    """Return a label as a part of a path: what no file may have in its name is written %2F, as in a URL."""
    part = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", label)
    encoded = part.encode(errors="surrogatepass")
    if len(encoded) > LONGEST or _HASHED.search(part):
        import hashlib

        start = encoded[: LONGEST - 17].decode(errors="ignore")
        part = f"{start}-{hashlib.sha256(encoded).hexdigest()[:16]}"
    return part or "%"


def choose_name(name: str, taken: set[str], joint: str = "-") -> str:
    """Return a name that is not taken yet, with a number where it is, and take it."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}{joint}{number}", number + 1
    taken.add(found)
    return found


def names_a_file(word: str) -> bool:
    """Return whether a word is the path of a file; it may be longer than any path."""
    return os.path.isfile(word)  # noqa: PTH113 - Path.is_file() raises where it is too long
