"""The audit: how often what a report prints is true, under known laws, through the summary's own code.

`python suites/tracked/audit` writes the tables of docs/statistics.md between their markers: verdicts of whole
reports made from arrays (`--part reports`), whole reports made from records (`whole`), the check of the
median (`medians`), intervals of one row (`rows`), `benchfw compare` (`compare`), variances of estimators,
their ratios and power (`estimators`), bias of numbers and gradients (`bias`), whether curves have a rate
(`rates`), methods that are tuned (`tuning`), and claims (`claims`). Seeds are fixed, so
that `--jobs` changes no number; more than an hour on one core for all. Exit code 1 if a share is outside its
limits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

from _bias import bias_tables
from _claims import claim_tables
from _estimators import estimator_tables
from _lines import compare_tables, report_tables, row_tables
from _medians import median_tables
from _rates import rate_tables
from _tables import Table, format_table, printed_lines, run_tasks, write_page
from _tuning import tuning_tables
from _whole import whole_tables

PARTS: dict[str, tuple[Callable[[int], Iterator[Table]], int]] = {
    "reports": (report_tables, 2000),
    "whole": (whole_tables, 300),
    "medians": (median_tables, 10_000),
    "rows": (row_tables, 1000),
    "compare": (compare_tables, 200),
    "estimators": (estimator_tables, 2000),
    "bias": (bias_tables, 2000),
    "rates": (rate_tables, 200),
    "tuning": (tuning_tables, 100),
    "claims": (claim_tables, 400),
}
"""What makes the tables of a part, and of how many experiments."""


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--only", default="", help="Lines whose name or title has this; others are kept.")
    parser.add_argument("--experiments", type=int, help="Instead of a part's own number, for each share.")
    parser.add_argument("--jobs", type=int, default=1, help="Processes that share the work.")
    parser.add_argument("--print", action="store_true", help="Print the tables and write nothing.")
    asked = parser.parse_args()
    missed = 0
    for part in asked.part or PARTS:
        make, experiments = PARTS[part]
        tables = list(make(asked.experiments or experiments))
        found = run_tasks([task for table in tables for task in table.tasks(asked.only)], asked.jobs)
        lines: list[str] = []
        for table in tables:
            shown, bad = format_table(table, found, printed_lines(part), asked.only)
            lines += ["", *shown] if lines else shown
            missed += bad
        print("\n".join(lines), flush=True)
        if not asked.print:
            write_page(part, lines)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
