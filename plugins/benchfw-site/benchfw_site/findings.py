"""What bundles say about the claims that suites make today.

A verdict is shown only for the test and the suite that were run: a claim without a bundle is missing, one
whose test has changed since, or whose suite has, is stale. One that only says it in other words now has its
verdict, and what it said then.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import product
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from benchfw.analysis.claims import Standing
from benchfw.claims import Claim
from benchfw.claims.read import read_claim
from benchfw.data.catalog import find_synthetic
from benchfw.errors import StoreError, SuiteError
from benchfw.provenance import Run, identify
from benchfw.records import Result
from benchfw.report.claims import describe_claims
from benchfw.report.text import join_names
from benchfw.store.bundle import read_bundle
from benchfw.suite import Suite, parse_suite, read_suite
from benchfw.summary.claims.reader import ClaimResult, read_registered
from benchfw.summary.summarize import summarize

_UNMEASURED = {"name", "text", "title", "claims", "repetitions"}
"""The fields of a suite that do not decide what is measured; `repetitions` decides how often."""


class Absence(StrEnum):
    """Why a claim has no verdict."""

    MISSING = "missing"
    STALE = "stale"


class Bundle(NamedTuple):
    """A bundle that was read."""

    path: Path
    run: Run
    results: Sequence[Result]


@dataclass(frozen=True, eq=False)
class Finding:
    """A claim of a suite, and what one bundle says about it: `found` is a sentence.

    `label` is the verdict in words, where these say more. `reworded` is what the run had written down, claim
    and source, if that is not what the claim says now.
    """

    suite: str
    claim: Claim
    verdict: Standing | Absence
    found: str
    label: str = ""
    reworded: str = ""
    bundle: Bundle | None = None
    result: ClaimResult | None = None


def read_claiming_suites(paths: Mapping[str, Path]) -> dict[str, Suite]:
    """Return the suites that make claims, by name."""
    found = {name: read_suite(path) for name, path in paths.items()}
    return {name: suite for name, suite in found.items() if suite.claims}


def read_bundles(places: Iterable[Path]) -> list[Bundle]:
    """Return the runs of bundles, each once: of files, or of all those in a folder and the folders in it."""
    found: dict[tuple[object, ...], Bundle] = {}
    for place in places:
        if not place.exists():
            raise StoreError(f"no bundle at {place}; `benchfw export --bundle` makes one")
        files = sorted(place.rglob("*.zip")) if place.is_dir() else [place]
        for path in files:
            bundle = Bundle(path, *read_bundle(path))
            found.setdefault(identify(bundle.run), bundle)
    return list(found.values())


def find_findings(
    suites: Mapping[str, Suite], bundles: Iterable[Bundle]
) -> tuple[list[Finding], list[Bundle]]:
    """Return what bundles say about the claims of suites, in the order of these; and the unused bundles."""
    by_suite: dict[str, list[Bundle]] = {name: [] for name in suites}
    unused: list[Bundle] = []
    for bundle in bundles:
        by_suite.get(find_suite_name(bundle.run, suites) or "", unused).append(bundle)
    return [each for name, own in by_suite.items() for each in _findings(name, suites[name], own)], unused


def describe_changes(suite: Suite, run: Run) -> str:
    """Return what of a suite has changed since a run, in words; titles and comments may."""
    quick = run.environment.changes.quick
    try:
        then = parse_suite(run.text, run.suite, quick=quick)
    except SuiteError as fault:
        return f"the suite has changed since the run: {fault}"
    changed = _changed_parts(then, parse_suite(suite.text, suite.name, quick=quick))
    return f"the suite has changed since the run: {', '.join(changed)}" if changed else ""


def count_repetitions(suite: Suite, bundle: Bundle) -> tuple[int, int]:
    """Return how many repetitions a run has, and how many its suite asks for now."""
    ran = {each.trial.repetition for each in bundle.results if not each.trial.tuning}
    quick = bundle.run.environment.changes.quick
    return len(ran), parse_suite(suite.text, suite.name, quick=quick).repetitions


def has_all_claims(suite: Suite, run: Run) -> bool:
    """Return whether a run registered all claims that its suite makes now, in these or other words."""
    tested = [each for each in suite.claims if each.test != "untestable"]
    before = _pair(tested, [claim for claim, _ in read_registered(run)])
    return all(each.digest in before for each in tested)


def _changed_parts(then: Suite, now: Suite) -> list[str]:
    """Return which parts of a suite differ, of those that decide what is measured: budget, [[problem]]."""
    changed = [
        each.name
        for each in fields(Suite)
        if each.name not in {*_UNMEASURED, "tables"} and getattr(then, each.name) != getattr(now, each.name)
    ]
    kinds = [kind for kind in now.tables if then.tables.get(kind) != now.tables[kind]]
    return [*changed, *(f"[[{kind}]]" for kind in kinds)]


def find_suite_name(run: Run, suites: Mapping[str, Suite]) -> str | None:
    """Return the suite that a run is of: of those of its name, the one that has most in common with it."""
    lines = _leaves(run.text)
    shared = {
        name: len(lines & _leaves(suite.text))
        for name, suite in suites.items()
        if PurePath(name).stem == run.suite
    }
    return max(shared, key=lambda name: shared[name]) if any(shared.values()) else None


def _leaves(text: str) -> set[tuple[str, str]]:
    """Return all keys and values of a TOML text, except those that any suite may have by chance."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError):  # what stands in a bundle may be anything
        return set()
    return {
        leaf
        for key in ("title", "problem", "optimizer", "estimator", "kernel", "claim")
        for leaf in _walk(tables.get(key), key)
    }


def _walk(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _walk(each, f"{path}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each, path)
    elif value is not None:
        yield path, repr(value)


def _findings(name: str, suite: Suite, bundles: Sequence[Bundle]) -> Iterator[Finding]:
    """Yield the findings about the claims of one suite, claim by claim."""
    read = [(bundle, *_read(suite, bundle)) for bundle in bundles]
    for claim in suite.claims:
        if claim.test == "untestable":
            yield Finding(name, claim, Standing.NOT_TESTABLE, claim.reason)
        elif not read:
            yield Finding(name, claim, Absence.MISSING, _describe_absence(suite))
        for bundle, changes, results in read if claim.test != "untestable" else ():
            result = results.get(claim.digest)
            if not claim.quick and bundle.run.environment.changes.quick:
                yield Finding(
                    name, claim, Absence.MISSING, "it is about the full size, and the run was quick"
                )
            elif result is None:
                why = changes or _describe_claim_changes(claim, bundle.run)
                yield Finding(name, claim, Absence.STALE, why, bundle=bundle)
            else:
                (said,) = describe_claims([result])
                before = (result.claim.says, result.claim.source)
                yield Finding(
                    name,
                    claim,
                    said.standing,
                    said.details.rstrip("."),
                    said.label,
                    said.title if before != (claim.says, claim.source) else "",
                    bundle,
                    result,
                )


def _describe_absence(suite: Suite) -> str:
    """Return that a suite has no bundle, and what data sets a run of it needs."""
    named = [str(each["dataset"]) for each in suite.tables.get("problem", ()) if "dataset" in each]
    plain = dict.fromkeys(each.partition("(")[0].strip() for each in named)
    made = find_synthetic(named)
    sets = [name for name in plain if name not in made]
    reads = f", which reads the data set{'s' * (len(sets) > 1)} {join_names(sets)}" if sets else ""
    return f"no bundle of this suite{reads}"


def _read(suite: Suite, bundle: Bundle) -> tuple[str, Mapping[str, ClaimResult]]:
    """Return what of a suite has changed since a bundle, in words; or else its claims, decided, by digest."""
    changes = describe_changes(suite, bundle.run)
    decided = () if changes else summarize(bundle.run, bundle.results, figures=False).claims
    results = {each.claim.digest: each for each in decided}
    before = _pair(suite.claims, [each.claim for each in decided])
    return changes, {digest: results[claim.digest] for digest, claim in before.items()}


def _pair(now: Iterable[Claim], then: Iterable[Claim]) -> dict[str, Claim]:
    """Return, by the digest of each claim of now, the one of then that has the same test.

    Of several with the same test, those whose words are most alike belong together.
    """
    alike = [pair for pair in product(now, then) if pair[0].has_same_test(pair[1])]
    found: dict[str, Claim] = {}
    for claim, before in sorted(alike, key=lambda pair: _compare_words(*pair), reverse=True):
        if claim.digest not in found and before not in found.values():
            found[claim.digest] = before
    return found


def _compare_words(one: Claim, other: Claim) -> float:
    """Return how much two claims have in common in words, from 0 to 1."""
    first, second = (f"{each.says} ({each.source})" for each in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _describe_claim_changes(claim: Claim, run: Run) -> str:
    """Return what of a claim has changed since it was registered, in words."""
    alike = [before for before, _ in read_registered(run) if before.says == claim.says]
    changed = min((_find_changed_keys(claim, before) for before in alike), key=len, default=[])
    if not changed:
        return "the claim was added or changed after the run"
    return f"the claim has changed since the run: {', '.join(changed)}"


def _find_changed_keys(claim: Claim, before: Claim) -> list[str]:
    """Return the keys of a claim's table whose change since an earlier one has changed its test."""
    keys = {**before.table, **claim.table}
    return [key for key in keys if not _has_test({**claim.table, key: before.table.get(key)}, claim)]


def _has_test(table: Mapping[str, Any], claim: Claim) -> bool:
    """Return whether a table is that of a claim with the same test; None stands for a key that is missing."""
    there = {key: value for key, value in table.items() if value is not None}
    try:
        return read_claim(there, "").has_same_test(claim)
    except SuiteError:
        return False
