"""The audit: how often what a report prints is true, under known laws, through the summary's own code.

`python suites/tracked/audit` writes the tables of docs/statistics.md between their markers: verdicts of whole
reports made from arrays (`--part reports`), whole reports made from records (`whole`), intervals of one row
(`rows`), `benchfw compare` (`compare`), and whether curves have a rate (`rates`). Fixed seeds; ten minutes on
one core for each part. Exit code 1 if a share is outside its limits.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
from _censored import judge
from _laws import HEAVY, LAWS, SMOOTH
from _rates import RUNS as RATE_RUNS
from _rates import rate_lines
from _reports import RUNS, SIZES, Shares, audit, median_covers, power, ratio_covers
from _rows import Case, cases
from _runs import comparisons
from _whole import RUNS as WHOLE_RUNS
from _whole import whole_lines

PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"
PARTS = ("reports", "whole", "rows", "compare", "rates")

Line = tuple[str, Callable[[], list[float]], float, float]


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--only", default="", help="Lines whose name has this; others are kept.")
    parser.add_argument("--reports", type=int, default=2000)
    parser.add_argument("--whole", type=int, default=300)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--curves", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=200)
    asked = parser.parse_args()
    missed = 0
    for part in asked.part or PARTS:
        lines: list[str] = []
        if part == "reports":
            lines, bad = report_table(report_lines(asked.reports), RUNS, table_of(part), asked.only)
        elif part == "whole":
            lines, bad = report_table(whole_lines(asked.whole), WHOLE_RUNS, table_of(part), asked.only)
        elif part == "rates":
            lines, bad = report_table(rate_lines(asked.curves), RATE_RUNS, table_of(part), asked.only)
        else:
            found, count = (cases(), asked.experiments) if part == "rows" else (comparisons(), asked.pairs)
            lines, bad = case_table(found, count, printed_cases(part), asked.only)
        missed += bad
        before, _, after = split_page(part)
        PAGE.write_text(before + "\n" + "\n".join(lines) + "\n\n" + after, encoding="utf-8")
    sys.exit(missed > 0)


def split_page(part: str) -> tuple[str, str, str]:
    """Return the manual up to the table of a part, the table, and the rest."""
    start, end = f"<!-- audit: {part} -->\n", f"<!-- end of audit: {part} -->"
    before, rest = PAGE.read_text(encoding="utf-8").split(start)
    table, after = rest.split(end)
    return before + start, table, end + after


def table_of(part: str) -> dict[str, str]:
    """Return the lines of a part's table by their names."""
    lines = [line for line in split_page(part)[1].splitlines() if line.startswith("| ")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines}


def report_table(
    found: Iterator[Line], columns: tuple[int, ...], printed: dict[str, str], only: str
) -> tuple[list[str], int]:
    """Return the table of verdicts and intervals, a column a number of runs, and how many missed.

    Lines whose name does not have `only` are taken as they were printed.
    """
    header = " | ".join(f"{runs} runs" for runs in columns)
    lines = [f"| what, law | {header} | asked for |", "|---|" + "---|" * (len(columns) + 1)]
    missed = 0
    for name, find, least, most in found:
        if only not in name:
            lines.append(printed[name])
            continue
        shares = find()
        within = [math.isnan(share) or least <= share <= most or most == 1 < share for share in shares]
        missed += within.count(False)
        shown = " | ".join("—" if math.isnan(share) else f"{share:.1%}" for share in shares)
        limits = (
            "—"
            if (least, most) == (0, 1)
            else f"at most {most:.1%}"
            if least == 0
            else f"at least {least:.1%}"
            if most == 1
            else f"{least:.1%} to {most:.1%}"
        )
        lines.append(f"| {name} | {shown} | {limits}{'' if all(within) else ': missed'} |")
        print(lines[-1], flush=True)
    return lines, missed


def report_lines(reports: int) -> Iterator[Line]:
    """Yield a line each: name, what finds a share a number of runs, and its limits."""
    chance = 0.05 + 2 * math.sqrt(0.05 * 0.95 / reports)
    laws, seldom = [*LAWS, "deterministic, looks"], "a third of the runs never arrives"
    for law in laws:
        found = partial(worst, law, "none", "claiming", reports)
        yield f"all alike: a report claims a difference; {law}", found, 0, chance
    found = partial(worst_censored, "none", 0, reports)
    yield f"all alike: a report claims a difference; {seldom}", found, 0, chance
    for what, attribute in {
        "the interval misses the truth": "uncovered",
        "the interval of a named leader misses the truth": "leaders",
        "a sentence is false": "wrong",
    }.items():
        for law in laws:
            yield f"half differ: {what}; {law}", partial(worst, law, "half", attribute, reports), 0, 0.05
    for place, what in ((2, "the interval misses the truth"), (1, "a sentence is false")):
        yield f"half differ: {what}; {seldom}", partial(worst_censored, "half", place, reports), 0, 0.05
    yield from equality_lines(reports)
    for law, noise in ((law, noise) for noise in (0.05, 0.1) for law in LAWS):
        name = f"power against an uncorrected test of a row; {law}, seconds {noise:.0%} more"
        yield name, partial(relative_power, law, 2 * reports, noise), 0.9, 1.0
    for law in LAWS:
        least, most = (0.9 if law in HEAVY else 0.93), (0.97 if law in SMOOTH else 1.0)
        found = partial(covered, ratio_covers, law, 4 * reports)
        yield f"one row: a ratio's 95 % interval covers; {law}", found, least, most
    for law in LAWS:
        found = partial(covered, median_covers, law, reports, fewest=5)
        yield f"one row: an end's median is covered; {law}", found, 0.93, 0.97 if law in SMOOTH else 1.0


def equality_lines(reports: int) -> Iterator[Line]:
    """Yield the lines on methods at the edge of what is equal."""
    for law in ("normal", "log-normal", "Pareto 1.2", "bimodal"):
        yield f"10 % apart: called equal; {law}, small", partial(called_equal, law, reports), 0, 0.05
    found = partial(worst, "mixing", "edge", "equal", reports)
    yield "10 % apart: called equal; unequally often slow", found, 0, 0.05
    for share, words in ((0.25, "one run of four"), (0.1, "one run of ten")):
        for times, more in ((1, ""), (6, ", six times as many runs")):
            found = partial(seldom_equal, share, times, reports)
            yield f"10 % apart: called equal; by {words}{more}", found, 0, 0.05


def called_equal(law: str, reports: int) -> list[float]:
    return [audit(rng_of(runs), f"quiet {law}", runs, (2, 1), reports, "edge").equal for runs in RUNS]


def seldom_equal(share: float, times: int, reports: int) -> list[float]:
    """Return the largest share over all sizes of a report; `times` as many runs as the column says."""
    return [
        max(
            audit(rng_of(runs, *size), f"seldom {share}", times * runs, size, reports, "edge").equal
            for size in SIZES[: 1 if times > 1 else None]
        )
        for runs in RUNS
    ]


def relative_power(law: str, reports: int, noise: float) -> list[float]:
    found = [power(rng_of(runs), law, runs, reports, noise) for runs in RUNS]
    return [mine / other for mine, other in found]


def covered(rule: Callable[..., float], law: str, experiments: int, fewest: int = 3) -> list[float]:
    return [rule(rng_of(runs), law, runs, experiments) if runs >= fewest else math.nan for runs in RUNS]


def rng_of(*numbers: int) -> np.random.Generator:
    return np.random.default_rng([22, *numbers])


@cache
def audit_sizes(law: str, effects: str, reports: int) -> list[list[Shares]]:
    """Return what is found for each number of runs and each size of a report.

    One run in fifty decides under rare events, so that small reports are made four times as often.
    """
    return [
        [audit(rng_of(runs, *size), law, runs, size, reports * _times(law, size), effects) for size in SIZES]
        for runs in RUNS
    ]


def _times(law: str, size: tuple[int, int]) -> int:
    return 4 if law == "rare events" and math.prod(size) < 20 else 1


def worst(law: str, effects: str, attribute: str, reports: int) -> list[float]:
    """Return the largest share over all numbers of methods and problems, for each number of runs."""
    return [max(getattr(shares, attribute) for shares in row) for row in audit_sizes(law, effects, reports)]


@cache
def audit_censored(effects: str, reports: int) -> list[np.ndarray]:
    return [
        np.max([judge(rng_of(runs, *size), runs, size, reports, effects) for size in SIZES], axis=0)
        for runs in RUNS
    ]


def worst_censored(effects: str, place: int, reports: int) -> list[float]:
    """Return the same where a third of the runs never arrives: claims, false sentences, missed intervals."""
    return [float(shares[place]) for shares in audit_censored(effects, reports)]


def printed_cases(part: str) -> dict[str, str]:
    """Return the lines of a table of single cases by what and how."""
    lines = [line for line in split_page(part)[1].splitlines() if line.startswith("| ")]
    return {" | ".join(line.removeprefix("| ").split(" | ")[:2]): line for line in lines}


def case_table(
    found: Iterator[Case], experiments: int, printed: dict[str, str], only: str
) -> tuple[list[str], int]:
    """Return the table of single cases, and how many are outside their limits.

    Lines whose name does not have `only` are taken as they were printed.
    """
    lines, missed = ["| what | how | share | asked for |", "|---|---|---|---|"], 0
    for case in found:
        name = f"{case.group} | {case.name}"
        if only not in name:
            lines.append(printed[name])
            continue
        held = share(case.holds, experiments)
        within = case.least <= held <= case.most
        missed += not within
        asked_for = "—" if (case.least, case.most) == (0, 1) else f"{case.least:.1%} to {case.most:.1%}"
        lines.append(f"| {name} | {held:.1%} | {asked_for}{'' if within else ': missed'} |")
        print(lines[-1], flush=True)
    return lines, missed


def share(holds: Callable[[np.random.Generator], bool], experiments: int) -> float:
    """Return the share of experiments in which something holds; each has a seed of its own."""
    return float(np.mean([holds(np.random.default_rng([20, number])) for number in range(experiments)]))


if __name__ == "__main__":
    main()
