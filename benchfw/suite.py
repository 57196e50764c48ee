"""Reads a suite file: TOML -> Suite. What its tables mean to plugins is checked in `plan`.

Every mistake in the file is one sentence that names the file, the table, and what would be right.
"""

from __future__ import annotations

import contextlib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from benchfw.claims import Claim
from benchfw.claims.read import read_claim
from benchfw.errors import SuiteError, nearest
from benchfw.packages import advise_install
from benchfw.parameters import Count, Positive, fits, misfit
from benchfw.records import GAP, Budget, Isolation, MethodKind
from benchfw.search import Tuning

METHOD_KINDS: tuple[MethodKind, ...] = get_args(MethodKind)
QUICK_KEYS = frozenset({"repetitions", "budget", "target", "precision", "tune"})
TOP_SETTINGS = QUICK_KEYS | {"title", "seed", "backends", "plugins", "isolation", "reference"}
TOP_KEYS = TOP_SETTINGS | {"quick", "problem", "claim", *METHOD_KINDS}
BUDGET_KEYS = frozenset({"seconds", "iterations", "cost"})
QUICK_TUNING = Tuning(trials=4, repetitions=2)  # where [quick] has no tune, at most
DEFAULT_BUDGET = Budget(seconds=10.0, iterations=10_000)
QUICK_SHARE = 10  # without a [quick] table, --quick spends a tenth of the budget
_EXAMPLES = {
    "budget": ", such as seconds = 10",
    "target": ", such as gap = 1e-6",
    "tune": ", such as trials = 32",
}

SESSION_SOURCE = "# objects of a Python session:"
"""Stands in a suite's text above the source of objects that were given to `benchfw.compare`, a comment."""


@dataclass(frozen=True)
class Suite:
    """A suite file, read and checked as far as that goes without plugins."""

    name: str
    text: str
    title: str
    seed: int = 0
    repetitions: int = 5
    backends: tuple[str, ...] = ("numpy",)
    budget: Budget = DEFAULT_BUDGET
    target: Mapping[str, float] = field(default_factory=dict)
    precision: float | None = None
    plugins: tuple[str, ...] = ()
    isolation: Isolation = "trial"
    reference: str = ""
    tune: Tuning | None = None
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    quick: bool = False
    where: str = ""
    """What messages call it: its file."""


def find_suite(name: str, folders: Iterable[Path]) -> Path:
    """Return the file of one suite given by path or by name; a name is searched in the folders in order."""
    found = find_suites(name, folders)
    if len(found) > 1:
        names = ", ".join(path.stem for path in found)
        raise SuiteError(f"'{name}' is a folder of {len(found)} suites ({names}); name one of them")
    return found[0]


def find_suites(name: str, folders: Iterable[Path]) -> list[Path]:
    """Return the file of a suite, or all those in a folder of suites, given by path or by name."""
    folders = list(folders)
    beside = [folder / f"{name.removesuffix('.toml')}.toml" for folder in folders]
    for path in (Path(name), *beside):
        with contextlib.suppress(OSError):  # a name too long for the file system
            if path.is_file():
                return [path]
    for path in (Path(name), *(folder / name for folder in folders)) if name else ():
        with contextlib.suppress(OSError, ValueError):  # or one with a null character
            inside = sorted(path.glob("*.toml"))
            if inside:
                return inside
    names = {path.relative_to(f).with_suffix("").as_posix() for f in folders for path in f.rglob("*.toml")}
    command = advise_install("suite", name.removesuffix(".toml"))
    if command:
        raise SuiteError(f"no suite '{name}' here; {command}")
    advice = nearest(name, names, "; `benchfw list suites` names them")
    raise SuiteError(f"no suite '{name}', neither as a file nor among the installed ones{advice}")


def read_suite(path: Path, *, quick: bool = False) -> Suite:
    if path.suffix == ".py":
        raise SuiteError(
            f"{path} is a Python file, and a suite is a .toml file; pass a plugin with --plugin {path}"
        )
    if path.suffix == ".zip" and path.is_file():
        raise SuiteError(
            f"{path} is an archive, and a suite is a .toml file; run a bundle again with --from-bundle "
            f"{path}, or look at it with `benchfw report {path}`"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SuiteError(f"{path}: cannot be read ({fault}); give a UTF-8 text file") from None
    return parse_suite(text, str(path), quick=quick)


def parse_suite(text: str, where: str, *, quick: bool = False) -> Suite:
    """Return the suite that a TOML text describes; `where` names it in messages."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:  # also numbers and nesting beyond Python's limits
        raise SuiteError(f"{where}: not valid TOML: {fault}") from None
    _check_integers(table, where)
    _check_keys(table, TOP_KEYS, where)
    shortened = table.get("quick", {})
    check_type(shortened, dict, "quick", where)
    _check_keys(shortened, QUICK_KEYS, f"{where}, [quick]")
    suite = _suite_of(table, text, where)
    if not quick:
        return suite
    tenth = {name: limit / QUICK_SHARE for name, limit in vars(suite.budget).items() if limit is not None}
    if "iterations" in tenth:
        tenth["iterations"] = max(1, int(tenth["iterations"]))
    fallback = {"repetitions": min(2, suite.repetitions), "budget": tenth}
    if suite.tune is not None:
        both = suite.tune, QUICK_TUNING
        few = {key: min(getattr(each, key) for each in both) for key in ("trials", "repetitions")}
        fallback["tune"] = {**table["tune"], **few}
    return _suite_of({**table, **fallback, **shortened}, text, where, quick=True)


def _suite_of(table: Mapping[str, Any], text: str, where: str, *, quick: bool = False) -> Suite:
    name = Path(where).stem
    kinds = {
        "title": str,
        "seed": int,
        "repetitions": int,
        "backends": list,
        "plugins": list,
        "reference": str,
    }
    for key, kind in kinds.items():
        if key in table:
            check_type(table[key], kind, key, where)
    repetitions = table.get("repetitions", 5)
    if repetitions < 1:
        raise SuiteError(f"{where}: repetitions must be at least 1, got {repetitions}")
    if table.get("backends") == []:
        raise SuiteError(f'{where}: backends is an empty list; name at least one, as in ["numpy"]')
    precision = table.get("precision")
    if precision is not None and not fits(precision, Positive):
        raise SuiteError(f"{where}: precision must be a positive number, got {precision!r}")
    isolation = table.get("isolation", "trial")
    if isolation not in ("trial", "worker"):
        raise SuiteError(f'{where}: isolation must be "trial" or "worker", got {isolation!r}')
    return Suite(
        name=name,
        text=text,
        title=table.get("title", name),
        seed=table.get("seed", 0),
        repetitions=repetitions,
        backends=tuple(_strings(table.get("backends", ["numpy"]), "backends", where)),
        budget=_budget_of(table.get("budget"), where),
        target=_target_of(table.get("target", {}), where),
        precision=precision,
        plugins=tuple(_strings(table.get("plugins", []), "plugins", where)),
        isolation=isolation,
        reference=table.get("reference", ""),
        tune=_tuning_of(table["tune"], where) if "tune" in table else None,
        tables={kind: _tables_of(table, kind, where, quick=quick) for kind in ("problem", *METHOD_KINDS)},
        claims=_claims_of(table.get("claim", []), where),
        quick=quick,
        where=where,
    )


def _claims_of(tables: Any, where: str) -> tuple[Claim, ...]:
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise SuiteError(f"{where}: 'claim' must be written as [[claim]] tables")
    found = tuple(
        read_claim(each, f"{where}, [[claim]] {number}", elsewhere=TOP_SETTINGS)
        for number, each in enumerate(tables, 1)
    )
    for number, each in enumerate(found, 1):
        if each.says in {other.says for other in found[: number - 1]}:
            raise SuiteError(f"{where}, [[claim]] {number}: '{each.says}' is claimed twice; remove one")
    return found


def _budget_of(table: Any, where: str) -> Budget:
    if table is None:
        return DEFAULT_BUDGET
    check_type(table, dict, "budget", where)
    _check_keys(table, BUDGET_KEYS, f"{where}, budget")
    for key, value in table.items():
        if not fits(value, Positive):
            raise SuiteError(f"{where}: budget {key} must be a positive number, got {value!r}")
    if not table:
        raise SuiteError(f"{where}: budget is empty; give seconds, iterations or cost")
    limits = dict(table)
    if "iterations" in limits:
        limits["iterations"] = int(limits["iterations"])
        if limits["iterations"] != table["iterations"] or limits["iterations"] < 1:
            raise SuiteError(
                f"{where}: budget iterations must be a whole number from 1, got {table['iterations']!r}"
            )
    return Budget(**limits)


def _tuning_of(table: Any, where: str) -> Tuning:
    check_type(table, dict, "tune", where)
    _check_keys(table, [each.name for each in fields(Tuning)], f"{where}, tune")
    for key in ("metric", "tuner"):
        if key in table:
            check_type(table[key], str, f"tune.{key}", where)
    for key, hint in {"trials": Count, "repetitions": Count, "across": Literal["problems"]}.items():
        if key in table and not fits(table[key], hint):
            raise SuiteError(f"{where}: tune.{misfit(key, table[key], hint)}")
    own = dict(table)
    if "budget" in own:
        own["budget"] = _budget_of(own["budget"], f"{where}, tune")
    return Tuning(**own)


def _target_of(table: Any, where: str) -> dict[str, float]:
    check_type(table, dict, "target", where)
    for key, value in table.items():
        if not fits(value, float) or not math.isfinite(value):
            raise SuiteError(f"{where}: target {key} must be a finite number, got {value!r}")
        if key == GAP and value < 0:
            raise SuiteError(f"{where}: target gap cannot be below 0, got {value!r}; no gap is")
    return dict(table)


def _tables_of(table: Mapping[str, Any], kind: str, where: str, *, quick: bool) -> list[dict[str, Any]]:
    tables = table.get(kind, [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise SuiteError(f"{where}: '{kind}' must be written as [[{kind}]] tables")
    found = []
    for number, each in enumerate(tables, 1):
        place = f"{where}, [[{kind}]] {number}"
        if "use" not in each:
            raise SuiteError(f"{place}: 'use' is missing; name the {kind}, as in use = \"…\"")
        if not isinstance(each["use"], str | list):
            raise SuiteError(f"{place}: 'use' must be a name, got {each['use']!r}")
        own = dict(each)
        shortened = own.pop("quick", {})
        check_type(shortened, dict, "quick", place)
        found.append({**own, **shortened} if quick else own)
    return found


def _check_integers(value: Any, where: str, key: str = "") -> None:
    """Raise a SuiteError for a whole number of more than 64 bits, which TOML does not have."""
    if isinstance(value, dict):
        for name, each in value.items():
            _check_integers(each, where, name)
    elif isinstance(value, list):
        for each in value:
            _check_integers(each, where, key)
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise SuiteError(
            f"{where}: '{key}' is a whole number of {len(str(abs(value)))} digits; use at most 18"
        )


def _check_keys(table: Mapping[str, Any], legal: Iterable[str], where: str) -> None:
    for key in table:
        if key not in legal:
            raise SuiteError(f"{where}: unknown key '{key}'{nearest(key, legal)}")


def check_type(value: Any, kind: type, key: str, where: str) -> None:
    """Raise a SuiteError unless the value of a key has the given type."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        names = {str: "be a string", int: "be a whole number", list: "be a list"}
        must = names.get(kind, f"hold named values{_EXAMPLES.get(key, '')}")
        raise SuiteError(f"{where}: '{key}' must {must}, got {value!r}")


def _strings(values: Sequence[Any], key: str, where: str) -> Iterable[str]:
    for value in values:
        check_type(value, str, key, where)
        yield value
