"""Collects what claims are about from one comparison after another, and decides them together in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import product

from benchfw.analysis.claims import Decided, Part, decide_claims
from benchfw.analysis.estimates import Runs
from benchfw.claims import Claim, Subject
from benchfw.claims.check import split_backend
from benchfw.claims.read import read_claim
from benchfw.errors import StoreError, SuiteError
from benchfw.provenance import Run
from benchfw.records import Cell, Result
from benchfw.summary.claims.estimates import average
from benchfw.summary.claims.parts import Measurements, find_parts, make_part
from benchfw.summary.quantities import Sample
from benchfw.summary.raised import Raised, find_raised
from benchfw.summary.times import TimeUnit


@dataclass(frozen=True, eq=False)
class ClaimResult:
    """A claim, when it was registered, and what is decided about it.

    `early` of its `trials` had ended before it was registered: somebody may have seen their results. A
    `quick` run decides it at a smaller size. So many trials `failed`, not by what their method computed.
    `raised` counts those in which the metric of the claim got better although the objective did not.
    `units` are those of the report's times.
    """

    claim: Claim
    decided: Decided
    registered: str = ""
    early: int = 0
    trials: int = 0
    quick: bool = False
    failed: int = 0
    raised: Mapping[Raised, int] = field(default_factory=dict)
    units: Mapping[str, TimeUnit] = field(default_factory=dict)


@dataclass
class _Open:
    """A claim with what was collected for it."""

    claim: Claim
    registered: str
    left_out: Sequence[str] = ()
    seen: int = 0
    parts: list[Part] = field(default_factory=list)
    ran: set[str] = field(default_factory=set)
    early: int = 0
    trials: int = 0
    failed: int = 0
    raised: Counter[Raised] = field(default_factory=Counter)

    @property
    def before(self) -> int:
        """Return how many trials had ended before, also those that ran again."""
        return max(self.early, min(self.seen, self.trials))


def read_registered(run: Run) -> list[tuple[Claim, str]]:
    """Return the claims that a run recorded, each with when it was registered.

    What cannot be read, or does not have the hash of what it says, is a StoreError: somebody changed it.
    """
    found = []
    for number, each in enumerate(run.environment.claims, 1):
        place = f"run {run.id}, claim {number}"
        try:
            claim = read_claim(each["table"], place)
        except SuiteError as fault:
            raise StoreError(f"{run.store}: {fault}") from None
        if claim.digest != each["hash"]:
            raise StoreError(f"{run.store}: {place}: its hash is not that of what it says; it was changed")
        found.append((claim, each["registered"]))
    return found


class ClaimReader:
    """Takes what the claims of a run are about from its comparisons, as these are made."""

    def __init__(self, run: Run) -> None:
        environment = run.environment
        self._backends = tuple(environment.backends)
        self._quick = environment.changes.quick
        self._open = [
            _Open(claim, registered, noted.get("left_out", ()), noted.get("seen", 0))
            for (claim, registered), noted in zip(read_registered(run), environment.claims, strict=True)
        ]

    def listen(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results, and count those that had ended before a claim about them was registered."""
        named = [
            (each, {split_backend(name, self._backends)[0] for name in each.claim.names})
            for each in self._open
        ]
        for result in results:
            cell = result.trial.cell
            find = cache(partial(find_raised, result))  # claims about the same metric ask the same
            for each, methods in named:
                if cell.method in methods and cell.problem in (each.claim.problems or (cell.problem,)):
                    each.trials += 1
                    each.failed += result.outcome.status.faulty
                    each.early += bool(result.ended) and result.ended < each.registered
                    raised = find(each.claim.judged_by)
                    if raised is not None:
                        each.raised[raised] += 1
            yield result

    def read(self, found: Measurements) -> None:
        """Take what claims are about from one comparison."""
        for each in self._open:
            claim = each.claim
            if claim.is_excused(quick=self._quick) or claim.kind != found.kind:
                continue
            for subject, cells in self._cells(claim, found.samples):
                each.parts += find_parts(claim, cells, found, replace(subject, cost_unit=found.cost_unit))
                each.ran |= {cell.method for cell in cells}

    def decide(self) -> tuple[ClaimResult, ...]:
        """Return all claims with what is decided about them, in the order of the suite."""
        decided = decide_claims([self._finish(each) for each in self._open])
        return tuple(
            ClaimResult(
                each.claim,
                found,
                each.registered,
                each.before,
                each.trials,
                self._quick,
                each.failed,
                each.raised,
            )
            for each, found in zip(self._open, decided, strict=True)
        )

    def _cells(
        self, claim: Claim, samples: Mapping[Cell, Sample]
    ) -> Iterator[tuple[Subject, tuple[Cell, ...]]]:
        """Yield the methods of a claim on one problem and backend after another, where all of them ran."""
        used = sorted({cell.backend for cell in samples})
        problems = dict.fromkeys(cell.problem for cell in samples)
        wanted = [each for each in problems if not claim.problems or each in claim.problems]
        for problem, group in product(wanted, claim.groups):
            names = [split_backend(name, self._backends) for name in group]
            fixed = all(backend for _, backend in names)
            for backend in [""] if fixed else used:
                cells = tuple(Cell(problem, claim.kind, label, own or backend) for label, own in names)
                if all(cell in samples for cell in cells):
                    yield Subject(group, problem, backend if len(used) > 1 else ""), cells

    def _finish(self, waiting: _Open) -> list[Part]:
        claim = waiting.claim
        if not waiting.parts:
            return [Part("", claim.inside, reason=self._absence(claim))]
        missing = [Part("", claim.inside, reason=each) for each in self._missing(waiting)]
        if not claim.across:
            return [*_name_parts(waiting.parts, claim), *missing]
        groups: dict[tuple[object, ...], list[Part]] = {}
        for part in waiting.parts:
            groups.setdefault((part.subject.methods, part.subject.backend), []).append(part)
        return [*_name_parts([_across(parts) for parts in groups.values()], claim), *missing]

    def _missing(self, waiting: _Open) -> Iterator[str]:
        """Yield what the claim names and this run left out: on the rest alone it is not decided."""
        problems = {each.subject.problem for each in waiting.parts}
        for name in (split_backend(each, self._backends)[0] for each in waiting.claim.methods):
            if name not in waiting.ran:
                yield f"'{name}' did not run"
        for name in waiting.claim.problems:
            if name not in problems:
                yield f"nothing was run on '{name}'"
        yield from (f"{cell} was left out (--only)" for cell in waiting.left_out[:1])

    def _absence(self, claim: Claim) -> str:
        if claim.reason:
            return claim.reason
        if self._quick and not claim.quick:
            return "it is about the full size (quick = false), and this run was quick"
        names = " and ".join(f"'{name}'" for name in claim.names)
        return f"{names} did not run on the same problem" if len(claim.names) > 1 else f"{names} did not run"


def _name_parts(parts: Sequence[Part], claim: Claim) -> list[Part]:
    """Return the parts, each with a name that tells it from the others."""
    problems = {each.subject.problem for each in parts}

    def name(subject: Subject) -> str:
        shown = len(subject.methods) if claim.test == "order" else int(len(claim.groups) > 1)
        problem = subject.problem if len(problems) > 1 else ""
        return ", ".join(filter(None, [problem, " / ".join(subject.methods[:shown]), subject.backend]))

    return [replace(each, name=name(each.subject)) for each in parts]


def _across(parts: Sequence[Part]) -> Part:
    runs = {each.subject.problem: each.estimate for each in parts if isinstance(each.estimate, Runs)}
    lacking = [each for each in parts if each.subject.problem not in runs]
    subject = replace(parts[0].subject, problem="", problems=len(parts))
    if lacking:
        reason = lacking[0].reason or "it has no mean over problems; claim it of each problem"
        return make_part(parts[0].inside, f"{lacking[0].subject.problem}: {reason}", subject)
    return make_part(parts[0].inside, average(runs), subject)
