"""What was decided stays decided: verdicts and claims of every published bundle, and trials of all suites.

The record in tests/frozen/ is data, not prose: a file for each bundle with a line for each decision, a file
with a line for each cell of a suite. A change that is meant: `make frozen`, and the diff says what changed.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import pytest

from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.store.bundle import read_bundle
from benchfw.suite import read_suite
from benchfw.summary.claims.tables import claim_facts
from benchfw.summary.exports import summary_rows
from benchfw.summary.summarize import summarize

ROOT = Path(__file__).parents[1]
FROZEN = Path(__file__).with_name("frozen")
BUNDLES = sorted([*ROOT.glob("findings/*/*.zip"), *ROOT.glob("gallery/*.zip")])
SUITES = sorted([*ROOT.glob("suites/**/*.toml"), *ROOT.glob("plugins/*/*/suites/**/*.toml")])
DIGITS = 6  # of a number: machines differ in the last ones

CLAIM_KEYS = ("says", "standing", "needed", "reason", "hash", "early", "trials", "failed", "quick")
PART_KEYS = ("name", "standing", "estimate", "interval", "level", "count", "reason")


def name_of(path):
    """Return the place of a bundle or a suite below the repository, without its ending."""
    return path.relative_to(ROOT).with_suffix("").as_posix()


def rounded(value):
    """Return a value as JSON has it, with numbers of few digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


def digest(value):
    return hashlib.sha256(json.dumps(rounded(value)).encode()).hexdigest()[:8]


def ends(interval):
    return None if interval is None else [interval.low, interval.high]


def comparison_facts(comparison):
    """Yield a title and the facts of one comparison: first what it is, then a line for each decision."""
    title = f"{comparison.kind}s on {comparison.problem}"
    arrivals = {
        cell.method: row.reached
        for cell in comparison.cells
        if (row := comparison.row(cell, "cost_to_target")) is not None
    }
    yield (
        title,
        {
            "reference": comparison.reference.method,
            "replaced": comparison.replaced and comparison.replaced.method,
            "targets": [[each.metric, each.value, each.automatic] for each in comparison.targets],
            "by_cpu": comparison.by_cpu,
            "arrivals": arrivals,
            "unfinished": {
                cell.method: done for cell in comparison.cells if (done := comparison.runs(cell))[0]
            },
        },
    )
    biases = ("biased", {cell.method: ends(each) for cell, each in comparison.biased.items()})
    too_few = ((name, [cell.method for cell in getattr(comparison, name)]) for name in ("narrow", "scarce"))
    sweeps = (
        "leads",
        [list(asdict(each).values()) for each in comparison.sweep.leads] if comparison.sweep else [],
    )
    yield from ((title, {name: value}) for name, value in (biases, *too_few, sweeps) if value)
    for (cell, quantity), decision in comparison.decisions.items():
        yield (
            title,
            {
                "method": cell.method,
                "backend": "" if cell.backend == "numpy" else cell.backend,
                "quantity": quantity,
                "verdict": decision.verdict.value,
                "interval": ends(decision.interval),
                "reason": decision.reason.value,
                "needed": decision.needed,
            },
        )


def bundle_facts(path):
    """Yield a title and the facts of a bundle, one after another."""
    summary = summarize(*read_bundle(path), figures=False)
    for comparison in summary.comparisons:
        yield from comparison_facts(comparison)
    for claim in claim_facts(summary.claims):
        yield "claims", {key: claim[key] for key in CLAIM_KEYS}
        yield from (("claims", {key: part[key] for key in PART_KEYS}) for part in claim["parts"])
    for each in summary.tuned:
        chosen = [each.chosen.setting]
        yield "tuned", {"method": each.cell.method, "problem": each.cell.problem, "chosen": chosen}
    for each in summary.faults:
        cells = [f"{cell.method} on {cell.problem}" for cell in each.cells]
        yield (
            "faults",
            {"cells": cells, "status": each.status.value, "trials": len(each.trials), "of": each.total},
        )
    for each in summary.caveats:
        yield (
            "caveats",
            {"methods": each.methods, "problems": each.problems, "trials": each.trials, "of": each.total},
        )
    rows = defaultdict(list)
    for problem, method, backend, quantity, *numbers in summary_rows(summary):
        rows[quantity].append([problem, method, backend, *numbers])
    for quantity, each in sorted(rows.items()):
        yield "summary.csv", {"quantity": quantity, "rows": len(each), "digest": digest(each)}


def bundle_text(path):
    lines, before = [], None
    for title, facts in bundle_facts(path):
        if title != before:
            lines += [f"# {title}"]
            before = title
        given = {name: value for name, value in facts.items() if value not in (None, "", [], {}, ())}
        lines += [json.dumps(rounded(given), ensure_ascii=False)]
    return "".join(f"{line}\n" for line in lines)


def suite_text(path):
    """Return a line for each cell: its labels, how often it runs, and a digest of what its keys hash."""
    trials = plan(read_suite(path), Registry())
    lines = []
    for first in trials.firsts:
        inputs = [
            first.seed, asdict(first.budget), dict(first.target), first.precision, first.at, first.best,
            first.holds_out, str(first.problem.table), str(first.method.table),
        ]  # fmt: skip
        labels = f"{first.kind} {first.method.label} on {first.problem.label} ({first.backend})"
        lines.append(f"{labels}: {trials.repetitions} x {digest(inputs)}")
    return "".join(f"  {line}\n" for line in lines)


def suite_texts(text):
    """Return what the record has of each suite."""
    parts = (part.partition("\n") for part in text.split("# ")[1:])
    return {name: rest for name, _, rest in parts}


def record_place(path):
    return FROZEN / f"{name_of(path)}.txt"


@pytest.mark.families
@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", BUNDLES, ids=name_of)
def test_a_bundle_decides_what_it_decided(path):
    assert bundle_text(path) == record_place(path).read_text("utf-8"), __doc__


@pytest.mark.families
def test_the_record_is_of_the_bundles_that_are_there():
    recorded = {name_of(path).removeprefix("tests/frozen/") for path in FROZEN.rglob("*/*.txt")}
    assert recorded == {name_of(path) for path in BUNDLES}


@pytest.mark.families
def test_suites_have_the_trials_that_they_had():
    recorded = suite_texts((FROZEN / "suites.txt").read_text("utf-8"))
    assert {name_of(path): suite_text(path) for path in SUITES} == recorded, __doc__


if __name__ == "__main__":
    for stale in FROZEN.rglob("*.txt"):
        stale.unlink()
    for path in BUNDLES:
        place = record_place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(bundle_text(path), "utf-8")
        print(name_of(path), file=sys.stderr)
    text = "".join(f"# {name_of(path)}\n{suite_text(path)}" for path in SUITES)
    (FROZEN / "suites.txt").write_text(text, "utf-8")
