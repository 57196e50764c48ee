"""Rows of a store from the nouns of a run, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from benchfw.records import Budget, Outcome, Record, Result, Spec, Status, Trial


def trial_row(trial: Trial, outcome: Outcome) -> tuple[Any, ...]:
    """Return the values of INSERT_TRIAL."""
    return (
        trial.key, trial.kind, _dump(trial.problem.table), _dump(trial.method.table), trial.backend,
        trial.repetition, _dump(_settings(trial, outcome)), outcome.status, storable(outcome.reason),
        storable(outcome.cost_unit), outcome.seconds, now(),
    )  # fmt: skip


def _settings(trial: Trial, outcome: Outcome) -> dict[str, Any]:
    return {
        **({"device": outcome.device} if outcome.device else {}),
        "seed": trial.seed,
        "budget": asdict(trial.budget),
        "target": trial.target,
        "precision": trial.precision,
        "at": trial.at,
    }


def record_of(metric: str, iteration: int, seconds: float, cost: float | None, value: float | None) -> Record:
    """Return the record of a row; SQLite has no NaN and keeps one as NULL."""
    nan = float("nan")
    return Record(metric, iteration, seconds, nan if cost is None else cost, nan if value is None else value)


def result_of(row: tuple[Any, ...], records: tuple[Record, ...]) -> Result:
    """Return the result that a row of SELECT_TRIAL and its records describe."""
    number, kind, problem, method, backend, repetition, settings, key, *ending = row
    status, reason, cost_unit, wall, problem_label, method_label, reused = ending
    given = json.loads(settings)
    device = given.pop("device", "")
    trial = Trial(
        kind=kind,
        problem=_spec(problem, problem_label),
        method=_spec(method, method_label),
        backend=backend,
        repetition=repetition,
        key=key,
        **{**given, "budget": Budget(**given["budget"])},
    )
    return Result(
        number, trial, Outcome(Status(status), reason, records, wall, cost_unit, device), bool(reused)
    )


def _spec(table: str, label: str) -> Spec:
    params = {key: _frozen(value) for key, value in json.loads(table).items()}
    return Spec(params.pop("use"), params, label)


def _frozen(value: Any) -> Any:
    # JSON has no tuples, and a spec has no lists: they are sweeps
    if isinstance(value, dict):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def storable(text: str) -> str:
    """Return text that can be encoded: an undecodable file name has characters that no encoding has."""
    return text.encode(errors="replace").decode()


def now() -> str:
    """Return the time of day, as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
