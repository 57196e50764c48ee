"""Rows of a store from the nouns of a run, and back; each row carries a digest of its values.

The digest of a trial covers its records too.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import os
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchfw.errors import StoreError
from benchfw.provenance import Environment, Noise, Run
from benchfw.records import (
    LONGEST_NAME,
    Budget,
    Counting,
    Ending,
    MethodKind,
    Outcome,
    Record,
    Result,
    Spec,
    Status,
    Trial,
    change,
    shorten,
)
from benchfw.store.checks import (
    LONGEST,
    REAL,
    REAL_OR_NONE,
    check_kind,
    check_noun,
    check_numbers,
    check_records,
    check_settings,
    check_text,
    load_json,
)
from benchfw.store.schema import WALL_COLUMN

Row = tuple[Any, ...]

SETTINGS = ("seed", "precision", "at", "best", "holds_out", "problem_key")  # beside the budget and the target
_get_settings = attrgetter(*SETTINGS)


GARBLED = (ValueError, KeyError, TypeError, AttributeError, OverflowError)
"""What rows that no benchfw wrote make Python raise."""


class Damaged(StoreError):
    """What was read is not what was written."""


def digest_of(*values: Any) -> str:
    """Return the digest of values as SQLite gives them back."""
    return hashlib.blake2b(repr(values).encode(errors="replace"), digest_size=8).hexdigest()


def digest_of_trial(row: Row, records: Sequence[Row]) -> str:
    """Return the digest of a row of TRIAL_COLUMNS and its records, as SQLite gives them back."""
    parts = [repr(row).encode(errors="replace"), *map(_pack, zip(*records, strict=True))]
    return hashlib.blake2b(b"\n".join(parts), digest_size=8).hexdigest()


def _pack(column: Row) -> bytes:
    """Return a column of records as bytes: to write millions of numbers as text would take seconds."""
    try:
        if isinstance(column[0], str):
            return "\0".join(column).encode(errors="replace")
        return struct.pack(f"<{len(column)}{'q' if isinstance(column[0], int) else 'd'}", *column)
    except (TypeError, struct.error):  # a number that is missing, or what no benchfw wrote
        return repr(column).encode(errors="replace")


def check_digest(what: str, digest: str, found: str) -> None:
    """Raise Damaged unless the digest of what was found is the one that was sealed."""
    if digest != found:
        raise Damaged(f"{what} does not match its checksum")


def sealed_rows(trial: Trial, outcome: Outcome, ended: str) -> tuple[Row, list[Row]]:
    """Return TRIAL_COLUMNS with their digest, and RECORD_COLUMNS of each record; `ended` is what `now` gives.

    Raises StoreError for what could not be read back: an importer may bring anything.
    """
    try:
        row, records = _trial_row(trial, outcome, ended), _record_rows(outcome.records)
        digest = digest_of_trial(row, records)
        result_of(0, digest, row, records, (0, 0, 0, trial.problem.label, trial.method.label, 0))
    except GARBLED as fault:
        raise StoreError(f"{trial} cannot be stored: {shorten(str(fault), LONGEST_NAME)}") from None
    return (*row, digest), records


def _trial_row(trial: Trial, outcome: Outcome, ended: str) -> Row:
    """Return the values of TRIAL_COLUMNS, each as SQLite gives it back."""
    settings = _dump_settings(trial.budget, tuple(trial.target.items()), _get_settings(trial))
    facts = {storable(name): _plain(value) for name, value in outcome.facts.items()}
    reads = {storable(name): storable(state) for name, state in sorted(outcome.reads.items())}
    peak_memory = None if outcome.peak_memory is None else _whole("peak_memory", outcome.peak_memory)
    return (
        storable(trial.key), trial.kind, trial.problem.text, trial.method.text, storable(trial.backend),
        _whole("repetition", trial.repetition), _whole("tuning", trial.tuning), settings,
        outcome.status.value, outcome.ending.value, storable_message(outcome.reason), _dump(facts),
        _dump([*map(storable_message, outcome.caveats)]), int(outcome.claims_unbiased), peak_memory,
        storable(outcome.cost_unit), outcome.counting.value, _real_or_none(outcome.prepare_seconds),
        _real_or_none(outcome.prepare_cost), None if outcome.replay is None else storable(outcome.replay),
        int(outcome.from_scratch), _real(outcome.seconds), storable(outcome.device), _dump(reads), ended,
    )  # fmt: skip


def _record_rows(records: Iterable[Record]) -> list[Row]:
    """Return the values of RECORD_COLUMNS for each record, each as SQLite gives it back."""
    return [
        (
            storable(each.metric),
            _whole("iteration", each.iteration),
            _real(each.seconds),
            _real(each.cost),
            _real(each.value),
            str(each.role),
            _real_or_none(each.cpu_seconds),
        )
        for each in records
    ]


def _real(number: float) -> float | None:
    """Return a number as SQLite gives it back: it has no NaN and no negative zero."""
    return None if math.isnan(number) else float(number) + 0.0


def _real_or_none(number: float | None) -> float | None:
    return None if number is None else _real(number)


def _whole(what: str, number: int) -> int:
    """Return a whole number of at most 64 bits: SQLite has no larger ones, and none of NumPy's."""
    found = number if type(number) is int else int(number)
    if found != number or not -(2**63) <= found < 2**63:
        raise ValueError(f"{what} is {number!r:.50}, which is not a whole number of at most 64 bits")
    return found


def _plain(number: float) -> float:
    """Return a number that JSON has."""
    return number if type(number) in REAL else float(number)


@functools.lru_cache(maxsize=64)  # trials share a few of these
def _dump_settings(budget: Budget, target: tuple[tuple[str, float], ...], others: tuple[Any, ...]) -> str:
    shared = dict(zip(SETTINGS, others, strict=True))
    return _encode({**shared, "budget": vars(budget), "target": dict(target)})


_as_record = functools.partial(tuple.__new__, Record)  # faster than Record._make


def record_of(row: Row) -> Record:
    """Return the record of a row; NULL stands for NaN, except in CPU seconds."""
    metric, iteration, seconds, cost, value, role, cpu_seconds = row
    cost, value = (math.nan if each is None else each for each in (cost, value))
    return Record(metric, iteration, seconds, cost, value, role, cpu_seconds)


def result_of(number: int, digest: str, row: Row, records: Sequence[Row], link: Row) -> Result:
    """Return the result that a row of TRIAL_COLUMNS, its records and a row of LINK_COLUMNS describe."""
    check_digest(f"trial {number}", digest, digest_of_trial(row, records))
    key, kind, problem, method, backend, repetition, tuning, settings = row[:8]
    _, _, _, problem_label, method_label, reused = link
    wall, ended = row[WALL_COLUMN], row[-1]
    check_text(key, ended, longest=LONGEST)
    check_numbers([repetition, tuning], {int})
    check_numbers([wall])
    check_records(records)
    trial = _trial_of(kind, problem, problem_label, method, method_label, backend, settings)
    outcome = _outcome_of(*row[8:WALL_COLUMN], *row[WALL_COLUMN + 1 : -1])
    has_nan = any(cost is None or value is None for _, _, _, cost, value, _, _ in records)
    measured = tuple(map(record_of if has_nan else _as_record, records))
    return Result(
        number,
        change(trial, repetition=repetition, tuning=tuning, key=key),
        change(outcome, records=measured, seconds=wall),
        bool(reused),
        ended,
    )


# most trials differ in their repetition and what they measured only; 1, 1.0 and True are not the same here
@functools.lru_cache(maxsize=1024, typed=True)
def _trial_of(
    kind: MethodKind, problem: str, its_label: str, method: str, label: str, backend: str, settings: str
) -> Trial:
    """Return a trial of a cell, without its repetition and key."""
    check_text(backend, its_label, label, longest=LONGEST)
    check_kind(kind)
    return Trial(
        kind, spec_of(problem, its_label), spec_of(method, label), backend, 0, **_settings_of(settings)
    )


@functools.lru_cache(maxsize=1024, typed=True)
def _outcome_of(
    status: str,
    ending: str,
    reason: str,
    facts: str,
    caveats: str,
    unbiased: int,
    peak_memory: int | None,
    cost_unit: str,
    counting: str,
    prepare_seconds: float | None,
    prepare_cost: float | None,
    replay: str | None,
    from_scratch: int,
    device: str,
    reads: str,
) -> Outcome:
    """Return how a trial ended, without its records and seconds."""
    check_text(reason, cost_unit, device, replay or "")
    check_numbers([peak_memory, prepare_seconds, prepare_cost], REAL_OR_NONE)
    known = load_json(facts)
    check_numbers(known.values())
    return Outcome(
        Status(status), Ending(ending), reason, (), known, _caveats_of(caveats),
        bool(unbiased), peak_memory, 0.0, cost_unit, device, Counting(counting),
        prepare_seconds, prepare_cost, reads_of(reads), replay, bool(from_scratch),
    )  # fmt: skip


def run_of(
    store: Path,
    digest: str,
    row: Row,
    counts: Mapping[str, int],
    tuning_counts: Mapping[str, int],
    *,
    going: bool,
) -> Run:
    """Return the run that a row of RUN_COLUMNS describes, with how its trials ended."""
    number, suite, title, text, environment, started, finished, reused, noise = row
    check_digest(f"run {number}", digest, digest_of(row))
    check_text(suite, title, text)
    check_text(started, finished or "", longest=LONGEST)
    check_numbers([reused], {int})
    return Run(
        id=number, suite=suite, title=title, store=store, started=started, finished=finished, going=going,
        counts={Status(each).value: count for each, count in counts.items()},
        tuning_counts={Status(each).value: count for each, count in tuning_counts.items()},
        reused=reused, text=text,
        environment=check_noun(Environment.from_json(load_json(environment, LONGEST))),
        noise=Noise.from_json(load_json(noise)),
    )  # fmt: skip


# trials share a few of these
@functools.lru_cache(maxsize=1024)
def _settings_of(text: str) -> dict[str, Any]:
    found = load_json(text)
    check_settings(found)
    return {**found, "budget": Budget(**found["budget"])}


@functools.lru_cache(maxsize=1024)
def reads_of(text: str) -> Mapping[str, str]:
    """Return what a trial read, from a cell of the store."""
    found = load_json(text)
    check_text("", *found.values())
    return dict(found)


@functools.lru_cache(maxsize=1024)
def _caveats_of(text: str) -> tuple[str, ...]:
    found = load_json(text)
    check_text("", *found)
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def spec_of(table: str, label: str) -> Spec:
    """Return the spec that a cell of the store and a label describe."""
    params = {key: _frozen(value) for key, value in load_json(table).items()}
    return Spec(check_text(params.pop("use"), longest=LONGEST), params, label)


def _frozen(value: Any) -> Any:
    # JSON has no tuples, and a spec has no lists: they are sweeps
    if isinstance(value, dict):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


_encode = json.JSONEncoder(separators=(",", ":")).encode


def _dump(value: dict[str, Any] | list[str]) -> str:
    if value:
        return _encode(value)
    return "[]" if isinstance(value, list) else "{}"  # most are empty


def storable(text: str) -> str:
    """Return text that can be encoded: an undecodable file name has characters that no encoding has.

    What is not text is a TypeError.
    """
    if type(text) is str and text.isascii():
        return text
    return str(check_text(text).encode(errors="replace").decode())


def storable_message(text: str) -> str:
    """Return what a method says as text that can be stored, without the folders of its machine."""
    text = storable(text)
    if os.sep not in text:
        return text
    signs = {tempfile.gettempdir() + os.sep: f"$TMPDIR{os.sep}", os.path.expanduser("~"): "~"}  # noqa: PTH111
    with contextlib.suppress(OSError):  # where the working folder was removed
        signs = {f"{Path.cwd()}{os.sep}": f".{os.sep}", **signs}
    for folder, sign in signs.items():
        if len(folder) > 2:  # not the root
            text = text.replace(folder, sign).replace(folder.replace("\\", "\\\\"), sign)
    return text


def now() -> str:
    """Return the time of day, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def moment() -> str:
    """Return the time of day exactly: what came first, a trial's end or a claim, may be within a second."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
