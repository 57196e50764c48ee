"""A suite for a reader: its problems, methods and rules, and what it claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchfw.api.planning import plan_suite
from benchfw.cli.options import try_plugin
from benchfw.errors import SuiteError
from benchfw.registry import Registry
from benchfw.report.claims import describe_test
from benchfw.report.text import printable
from benchfw.suite import find_suite


def is_suite(name: str, registry: Registry) -> bool:
    """Return whether a name is that of a suite, or of its file."""
    try:
        find_suite(name, registry.suite_folders)
    except SuiteError:
        return Path(name).suffix == ".toml"  # it is said what is wrong with it
    return True


def suite_facts(name: str, plugins: Iterable[str]) -> dict[str, Any]:
    """Return a suite as plain data; every mistake in it is a SuiteError."""
    planned = plan_suite(name, plugins, try_plugin=try_plugin)
    suite, firsts = planned.suite, planned.trials.firsts
    methods: dict[str, list[str]] = {}
    for first in firsts:
        of_kind = methods.setdefault(f"{first.kind}s", [])
        if first.method.label not in of_kind:
            of_kind.append(first.method.label)
    return {
        "kind": "suite",
        "name": suite.name,
        "title": suite.title,
        "problems": list(dict.fromkeys(first.problem.label for first in firsts)),
        **methods,
        "backends": list(suite.backends),
        "repetitions": suite.repetitions,
        "budget": {key: limit for key, limit in vars(suite.budget).items() if limit is not None},
        "target": dict(suite.target),
        "claims": [
            {
                "says": each.says,
                "source": each.source,
                "decided_by": describe_test(each),
                "quick": each.quick,
                "hash": each.digest,
                "table": dict(each.table),
            }
            for each in suite.claims
        ],
    }


def describe_suite(facts: Mapping[str, Any]) -> str:
    lines = [f"suite {facts['name']}: {facts['title']}", ""]
    for key, value in facts.items():
        if key in {"kind", "name", "title", "claims"} or not value:
            continue
        shown = value
        if isinstance(value, list):
            shown = ", ".join(value)
        elif isinstance(value, dict):
            shown = ", ".join(f"{name} {limit:g}" for name, limit in value.items())
        lines.append(f"  {key}: {shown}")
    if facts["claims"]:
        lines += ["", "  claims:"]
    for each in facts["claims"]:
        source = f" ({each['source']})" if each["source"] else ""
        later = "" if each["quick"] else "; not decided by a quick run"
        lines += [f"    {each['says']}{source}", f"      {each['decided_by']}{later}"]
    return "\n".join(map(printable, lines))
