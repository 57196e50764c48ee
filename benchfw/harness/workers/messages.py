"""What a parent and its worker say to each other.

A worker answers in JSON, so that nothing a trial writes can run code in the parent. It writes to a file that
both have open: there its words survive it, and the parent need not be woken for each. A byte in a pipe, the
bell, asks the parent to read. A line is either a list of records or a message, a list whose first item names
the kind:

- `ready`, process id, PROTOCOL: once, when the plugins are imported;
- `read`, name, whether for all trials of the worker: when a plugin first reads something;
- `again`, modules, what is left behind: the trial imported modules; run it anew, with these imported before;
- `end`, outcome without its records, `Learned`, what is left behind: nothing if another trial can follow.

Records are those of the trial whose `end` or `again` comes next.
"""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from benchfw.loading import EntryPoint
from benchfw.records import ROLES, Ending, Isolation, Outcome, Record, Status, Trial, change

PROTOCOL = 10
"""What parent and worker must agree on, where the worker is of another revision: one more with every change
of `Setup`, `Request`, `Trial`, `Record`, `Outcome` or the messages."""

FAMILIAR, NEW = b"f", b"n"
"""Stand before each request: a new one is whole, a familiar one names a new one that it repeats."""

_REPEAT = struct.Struct("!iq??B")  # number of the request, repetition, last chance, bell, length of the key
_LENGTH = struct.Struct("!I")

LONGEST_MESSAGE = 1 << 26  # bytes: more than any look at a trial's metrics needs

RAN_HERE = "a trial"
"""What a worker says is left behind in its own process, where each trial must have a new one."""
FUNCTIONS_OF = "functions of "
"""How the names of modules begin whose functions were replaced: by any of the trials handed over together."""

_DEFAULTS = Outcome(Status.DONE, Ending.ITERATIONS)
_USUAL = vars(_DEFAULTS)


class BadMessage(Exception):
    """What a worker sent is not a message."""


@dataclass(frozen=True)
class Setup:
    """How a worker is to run trials; sent before the first of them.

    `overlay` are folders of packages that go before all others; `resources` asks for CPU seconds instead of
    time, and for the peak of memory; `other_hashes` for hashes of strings, and so for an order of sets, that
    differ from those of other workers; `installed` are the installed plugins, where the parent knows them;
    `objects` are those given to the registry, packed; `keep_in` is the folder in which files of trials are
    kept, if they are; `replies` is the file descriptor that it writes to.
    """

    plugins: tuple[str, ...]
    threads: int
    memory: int | None
    path: tuple[str, ...]
    device_memory: int | None = None
    overlay: tuple[str, ...] = ()
    resources: bool = False
    isolation: Isolation = "trial"
    other_hashes: bool = False
    installed: tuple[EntryPoint, ...] | None = None
    objects: bytes = b""
    keep_in: str = ""
    replies: int = -1


@dataclass(frozen=True)
class Learned:
    """What running a trial taught that saves time in others: none of it changes what they measure."""

    modules: tuple[str, ...] = ()
    ceilings: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    threads_of: str = ""


NOTHING = Learned()


@dataclass(frozen=True)
class Request:
    """A trial to run.

    `known` are modules to import before; a trial that imports others is to be run again, unless this is
    its `last` chance. `alone` asks for the worker's own process, `rehearsal` for its warm-up only.
    When the trial has ended, the worker rings the `bell`, unless the next request was sent with this one.
    """

    trial: Trial
    known: Learned = Learned()
    alone: bool = False
    rehearsal: bool = False
    last: bool = False
    bell: bool = True


def pack_repeat(number: int, request: Request, *, bell: bool) -> bytes:
    """Return a request that differs from an earlier one in the repetition only, small because most do."""
    trial, key = request.trial, request.trial.key.encode()
    numbers = _REPEAT.pack(number, trial.repetition, request.last, bell, len(key))
    return FAMILIAR + numbers + key


def receive_repeat(requests: int, earlier: Sequence[Request]) -> Request:
    """Read such a request from the pipe, after its tag."""
    number, repetition, last, bell, length = _REPEAT.unpack(_read(requests, _REPEAT.size))
    request: Request = earlier[number]
    trial = change(request.trial, repetition=repetition, key=_read(requests, length).decode())
    return change(request, trial=trial, last=last, bell=bell)


def pack_whole(message: Setup | Request) -> bytes:
    """Return what the parent sends whole as the pipe carries it."""
    content = pickle.dumps(message)
    return NEW + _LENGTH.pack(len(content)) + content


def receive_whole(requests: int) -> Any:
    """Read what the parent sends whole from the pipe, after its tag."""
    (length,) = _LENGTH.unpack(_read(requests, _LENGTH.size))
    return pickle.loads(_read(requests, length))  # noqa: S301 - from the parent


def _read(requests: int, length: int) -> bytes:
    """Read so many bytes from the pipe, which may come in pieces."""
    parts = [os.read(requests, length)]
    missing = length - len(parts[0])
    while missing and parts[-1]:
        parts.append(os.read(requests, missing))
        missing -= len(parts[-1])
    if missing:
        raise EOFError
    return b"".join(parts)


def write_line(file: int, content: Sequence[Any]) -> None:
    """Write a line of JSON to a file descriptor."""
    line = "".join((*_encode(content, 0), "\n")).encode()
    while line:
        line = line[os.write(file, line) :]


def parse_lines(lines: bytes) -> Iterator[list[Any]]:
    """Yield what lines of a worker say; BadMessage at the first that makes no sense."""
    try:
        found = json.loads(b"[%b]" % lines.rstrip(b"\n").replace(b"\n", b","))  # faster than one by one
    except (ValueError, RecursionError):
        found = map(_parse, lines.splitlines())
    for each in found:
        if not isinstance(each, list) or not each or not isinstance(each[0], str | list):
            raise BadMessage("a line is not a list that begins with a word or a record")
        yield each


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as fault:
        raise BadMessage(str(fault)) from None


def record_of(row: Any) -> Record:
    """Return the record that a worker has written."""
    try:
        metric, iteration, seconds, cost, value, role, cpu_seconds = row
        used = None if cpu_seconds is None else float(cpu_seconds)
        record = Record(metric, iteration, float(seconds), float(cost), float(value), role, used)
    except (TypeError, ValueError) as fault:
        raise BadMessage(f"not a record: {fault}") from None
    if not (isinstance(metric, str) and isinstance(iteration, int) and role in ROLES):
        raise BadMessage(f"not a record: {str(row)[:100]}")
    return record


def plain_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome without its records, as messages carry it; what is as usual is left out."""
    return {
        name: value
        for name, value in vars(outcome).items()
        if name != "records" and (name in ("status", "ending") or value != _USUAL[name])
    }


def outcome_of(plain: Any, records: tuple[Record, ...] = ()) -> Outcome:
    """Return the outcome of a message, with the records that came before it."""
    try:
        found = {name: _like(_USUAL[name], value) for name, value in plain.items()}
        return change(_DEFAULTS, records=records, **found)
    except (TypeError, ValueError, AttributeError, KeyError) as fault:
        raise BadMessage(f"not an outcome: {fault}") from None


def _like(usual: Any, value: Any) -> Any:
    """Return a value with the type of the usual one; TypeError or ValueError where that cannot be."""
    if type(value) is type(usual):  # almost always
        return value
    match usual:
        case StrEnum():
            return type(usual)(value)
        case bool() | str():
            found: Any = value
        case float():
            found = float(value) if isinstance(value, int | float) else value
        case None:
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise TypeError(f"{value!r} instead of a number")
            return value
        case tuple():
            found = tuple(map(str, value))
        case _:
            found = dict(value)
    if not isinstance(found, type(usual)):
        raise TypeError(f"{found!r} instead of {usual!r}")
    return found


def learned_of(plain: Any) -> Learned:
    """Return what a message says was learned."""
    if plain is None:
        return NOTHING
    try:
        modules, ceilings, threads_of = plain
        return Learned(tuple(map(str, modules)), dict(ceilings), str(threads_of))
    except (TypeError, ValueError) as fault:
        raise BadMessage(f"could not read what the trial taught: {fault}") from None


def _plain(value: Any) -> Any:
    """Return what JSON has no word for as it has: NumPy's numbers, say, in the facts of a method."""
    if hasattr(value, "item"):
        return value.item()
    return dict(value) if isinstance(value, Mapping) else str(value)


# what a JSONEncoder makes anew for every text: without indent, a check for circles, and an order of keys
_encode = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, _plain, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
)
