"""Checks the names in claims against the methods and problems of a suite, before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from benchfw.claims import Claim
from benchfw.errors import SuiteError, nearest
from benchfw.records import Cell


def check_claims(
    claims: Sequence[Claim],
    cells: Iterable[Cell],
    backends: Collection[str],
    *,
    targets: bool,
    where: str,
    quick: bool = False,
) -> None:
    """Raise a SuiteError for the first claim about something that the suite does not have.

    `backends` are all that are known: a claim may be about one that this run leaves out. A quick run may
    leave out what claims about the full size name.
    """
    every = list(cells)
    for number, claim in enumerate(claims, 1):
        if quick and not claim.quick:
            continue
        place = f"{where}, [[claim]] {number}"
        problems = {cell.problem for cell in every}
        for name in claim.problems:
            if name not in problems:
                raise SuiteError(f"{place}: no problem is labelled '{name}'{nearest(name, problems)}")
        for name in claim.names:
            _check_method(claim, split_backend(name, backends)[0], every, place)
        if claim.to_target and not targets:
            raise SuiteError(f"{place}: it is about a target, and there is none; give target = {{ … }}")
        for group in claim.groups if claim.test != "untestable" else ():
            labels = [split_backend(name, backends)[0] for name in group]
            if not _meeting(claim, labels, every):
                where_it_is = "on " + ", ".join(claim.problems) if claim.problems else "on the same problem"
                verb = "are" if len(labels) > 1 else "is"
                raise SuiteError(f"{place}: {' and '.join(labels)} {verb} never run {where_it_is}")


def _check_method(claim: Claim, label: str, cells: Sequence[Cell], place: str) -> None:
    kinds = {cell.method: cell.kind for cell in cells}
    if label not in kinds:
        raise SuiteError(f"{place}: no method is labelled '{label}'{nearest(label, kinds)}")
    if claim.test != "untestable" and kinds[label] != claim.kind:
        what = f"'{claim.quantity}'" if claim.quantity else f"'{claim.test}'"
        raise SuiteError(
            f"{place}: {what} is for {claim.kind}s, and '{label}' is of another kind: {kinds[label]}"
        )


def _meeting(claim: Claim, labels: Sequence[str], cells: Sequence[Cell]) -> set[str]:
    """Return the problems on which all methods of a claim are run."""
    places = [{cell.problem for cell in cells if cell.method == label} for label in labels]
    found = set.intersection(*places)
    return found & set(claim.problems) if claim.problems else found


def find_cells(claim: Claim, cells: Iterable[Cell], backends: Collection[str]) -> list[Cell]:
    """Return the cells that a claim is about."""
    names = [split_backend(name, backends) for name in claim.names]
    return [
        cell
        for cell in cells
        if not claim.problems or cell.problem in claim.problems
        if any(cell.method == label and backend in ("", cell.backend) for label, backend in names)
    ]


def split_backend(name: str, backends: Collection[str]) -> tuple[str, str]:
    """Return the label and the backend of 'label (backend)'; no backend where the name has none."""
    for backend in backends:
        if name.endswith(f" ({backend})"):
            return name.removesuffix(f" ({backend})"), backend
    return name, ""
