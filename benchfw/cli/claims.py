"""What the command line asks of claims: that there are some, and that all of them are shown to hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import click

from benchfw.analysis.claims import Standing
from benchfw.claims import Claim
from benchfw.errors import BenchfwError
from benchfw.provenance import Run
from benchfw.report.text import plural, printable
from benchfw.summary.claims.reader import ClaimResult


def refuse_without_claims(claims: Sequence[Claim], where: str, *, quick: bool) -> None:
    """Raise a BenchfwError if a run cannot show any claim to hold."""
    if not claims:
        raise BenchfwError(
            f"--require-claims: {printable(where)} makes no claim; add a [[claim]] table or leave it out"
        )
    if all(each.is_excused(quick=quick) for each in claims):
        size = "a quick run" if quick else "a run"
        raise BenchfwError(
            f"--require-claims: {size} of {printable(where)} decides none of its claims; leave out the option"
        )


def require_claims(run: Run, results: Sequence[ClaimResult]) -> int:
    """Return 1 if a claim is not shown to hold, which is said here.

    A claim that could not be tested is not shown to hold, unless the suite itself leaves it out.
    """
    quick = run.environment.changes.quick
    counts = Counter(each.decided.standing for each in results if not each.claim.is_excused(quick=quick))
    total, shown = sum(counts.values()), counts.pop(Standing.HOLDS, 0)
    if total == shown:
        return 0
    which = ", ".join(f"{count} {standing}" for standing, count in sorted(counts.items()))
    verb = "is" if total - shown == 1 else "are"
    of = f"{total - shown} of {plural(total, 'claim')}"
    click.echo(f"benchfw: run {run.id}: {of} {verb} not shown to hold ({which})", err=True)
    return 1
