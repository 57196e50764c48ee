"""The audit: how often what a report prints is true, under known laws, through the summary's own code.

`python suites/tracked/audit` writes the tables of docs/statistics.md between their markers: verdicts of whole
reports made from arrays (`--part reports`), whole reports made from records (`whole`), intervals of one row
(`rows`), and `benchfw compare` (`compare`). Fixed seeds; ten minutes on one core for each part. Exit code 1
if a share is outside its limits.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from _censored import judge
from _laws import HEAVY, LAWS, SMOOTH
from _reports import RUNS, SIZES, audit, median_covers, power, ratio_covers
from _rows import Case, cases
from _runs import comparisons
from _whole import RUNS as WHOLE_RUNS
from _whole import whole_lines

PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"
PARTS = ("reports", "whole", "rows", "compare")

Line = tuple[str, list[float], float, float]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--whole", type=int, default=300)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=200)
    asked = parser.parse_args()
    missed = 0
    for part in asked.part or PARTS:
        lines: list[str] = []
        if part == "reports":
            lines, bad = report_table(report_lines(asked.reports), RUNS)
        elif part == "whole":
            lines, bad = report_table(whole_lines(asked.whole), WHOLE_RUNS)
        else:
            found, count = (cases(), asked.experiments) if part == "rows" else (comparisons(), asked.pairs)
            lines, bad = case_table(found, count)
        missed += bad
        text = PAGE.read_text(encoding="utf-8")
        start, end = f"<!-- audit: {part} -->\n", f"<!-- end of audit: {part} -->"
        before, rest = text.split(start)
        PAGE.write_text(
            f"{before}{start}\n" + "\n".join(lines) + f"\n\n{end}{rest.split(end)[1]}", encoding="utf-8"
        )
    sys.exit(missed > 0)


def report_table(found: Iterator[Line], columns: tuple[int, ...]) -> tuple[list[str], int]:
    """Return the table of verdicts and intervals, a column a number of runs, and how many missed."""
    header = " | ".join(f"{runs} runs" for runs in columns)
    lines = [f"| what, law | {header} | asked for |", "|---|" + "---|" * (len(columns) + 1)]
    missed = 0
    for name, shares, least, most in found:
        within = [math.isnan(share) or least <= share <= most or most == 1 < share for share in shares]
        missed += within.count(False)
        shown = " | ".join("—" if math.isnan(share) else f"{share:.1%}" for share in shares)
        limits = (
            f"at most {most:.1%}"
            if least == 0
            else f"at least {least:.1%}"
            if most == 1
            else f"{least:.1%} to {most:.1%}"
        )
        lines.append(f"| {name} | {shown} | {limits}{'' if all(within) else ': missed'} |")
        print(lines[-1], flush=True)
    return lines, missed


def report_lines(reports: int) -> Iterator[Line]:
    """Yield a line each: name, a share a number of runs, and its limits."""
    chance = 0.05 + 2 * math.sqrt(0.05 * 0.95 / reports)
    laws = [*LAWS, "deterministic, looks"]
    for law in laws:
        yield (
            f"all alike: a report claims a difference; {law}",
            worst(law, "none", "claiming", reports),
            0,
            chance,
        )
    alike, half = (
        [
            np.max([judge(rng_of(runs, *size), runs, size, reports, effects) for size in SIZES], axis=0)
            for runs in RUNS
        ]
        for effects in ("none", "half")
    )
    seldom = "a third of the runs never arrives"
    yield f"all alike: a report claims a difference; {seldom}", [each[0] for each in alike], 0, chance
    for what, attribute in {
        "misses the truth": "uncovered",
        "of a named leader misses the truth": "leaders",
    }.items():
        for law in laws:
            yield (
                f"half differ: the interval {what}; {law}",
                worst(law, "half", attribute, reports),
                0,
                0.05,
            )
    for law in laws:
        yield (
            f"half differ: a sentence is false; {law}",
            worst(law, "half", "wrong", reports),
            0,
            0.05,
        )
    yield f"half differ: the interval misses the truth; {seldom}", [each[2] for each in half], 0, 0.05
    yield f"half differ: a sentence is false; {seldom}", [each[1] for each in half], 0, 0.05
    for law in ("normal", "log-normal", "Pareto 1.2", "bimodal"):
        shares = [audit(rng_of(runs), f"quiet {law}", runs, (2, 1), reports, "edge").equal for runs in RUNS]
        yield f"10 % apart: called equal; {law}, small", shares, 0, 0.05
    yield (
        "10 % apart: called equal; as often slow or fast",
        worst("mixing", "edge", "equal", reports),
        0,
        0.05,
    )
    for law, noise in ((law, noise) for noise in (0.05, 0.1) for law in LAWS):
        found = [power(rng_of(runs), law, runs, 2 * reports, noise) for runs in RUNS]
        yield (
            f"power against an uncorrected test of a row; {law}, seconds {noise:.0%} more",
            [mine / other for mine, other in found],
            0.9,
            1.0,
        )
    for law in LAWS:
        least, most = (0.9 if law in HEAVY else 0.93), (0.97 if law in SMOOTH else 1.0)
        yield (
            f"one row: a ratio's 95 % interval covers; {law}",
            [ratio_covers(rng_of(runs), law, runs, 4 * reports) for runs in RUNS],
            least,
            most,
        )
    for law in LAWS:
        shares = [median_covers(rng_of(runs), law, runs, reports) if runs >= 5 else math.nan for runs in RUNS]
        yield f"one row: an end's median is covered; {law}", shares, 0.93, 0.97 if law in SMOOTH else 1.0


def rng_of(*numbers: int) -> np.random.Generator:
    return np.random.default_rng([22, *numbers])


def worst(law: str, effects: str, attribute: str, reports: int) -> list[float]:
    """Return the largest share over all numbers of methods and problems, for each number of runs."""
    key = (law, effects)
    if key not in _AUDITED:
        _AUDITED[key] = [
            [audit(rng_of(runs, *size), law, runs, size, reports, effects) for size in SIZES] for runs in RUNS
        ]
    return [max(getattr(shares, attribute) for shares in row) for row in _AUDITED[key]]


_AUDITED: dict[tuple[str, str], list] = {}


def case_table(found: Iterator[Case], experiments: int) -> tuple[list[str], int]:
    """Return the table of single cases, and how many are outside their limits."""
    lines, missed = ["| what | how | share | asked for |", "|---|---|---|---|"], 0
    for case in found:
        held = share(case.holds, experiments)
        within = case.least <= held <= case.most
        missed += not within
        asked_for = "—" if (case.least, case.most) == (0, 1) else f"{case.least:.1%} to {case.most:.1%}"
        lines.append(
            f"| {case.group} | {case.name} | {held:.1%} | {asked_for}{'' if within else ': missed'} |"
        )
        print(lines[-1], flush=True)
    return lines, missed


def share(holds: Callable[[np.random.Generator], bool], experiments: int) -> float:
    """Return the share of experiments in which something holds; each has a seed of its own."""
    return float(np.mean([holds(np.random.default_rng([20, number])) for number in range(experiments)]))


if __name__ == "__main__":
    main()
