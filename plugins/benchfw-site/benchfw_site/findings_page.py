"""The page of findings, in Markdown: every claim of every document, what was found, and by which run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from benchfw.analysis.claims import Standing
from benchfw.analysis.significance import BUDGET
from benchfw.records import Status
from benchfw.report.claims import MARKS
from benchfw.report.commands import suite_command
from benchfw.report.first_screen import describe_machine
from benchfw.report.text import escape_markdown, plural, printable
from benchfw.suite import Suite
from benchfw_site.documents import Document, Documents, group_by_document
from benchfw_site.findings import Absence, Bundle, Finding, count_repetitions
from benchfw_site.interval_plot import draw_intervals, find_rows

MADE = "<!-- Made by `benchfw findings` from suites and bundles: a change by hand is lost. -->"
READING = (
    "A claim is a sentence that a suite wrote down before it was run. It **holds** if the interval that was "
    "found lies inside what is claimed, is **refuted** if it lies outside, and **undecided** if it lies "
    "across the end. All claims that one run decides share an error of {budget:.0%}. A claim is **missing** "
    "without a bundle of its suite, and **stale** where its test or the suite has changed since the run: "
    "its old verdict is not shown. One that only says it in other words now keeps its verdict, and what "
    "the run had registered stands beside what was found. This table counts each claim once; below, it has a "
    "line for each run."
)
VERDICTS: tuple[Standing | Absence, ...] = (*Standing, *Absence)
COMMIT_DIGITS = 10
_TEST = re.compile(r"`?(?:\b\w+/)*\b(test_\w+\.py::test_\w+)`?")  # a test that holds what no run can
_OTHERS, _DIFFERS = "Claims without a source", "differs by run"


def build_page(
    findings: Sequence[Finding], suites: Mapping[str, Suite], documents: Documents, folder: PurePath
) -> dict[PurePath, str]:
    """Return the figures of the page, by their place below it, and last, under no name, its text.

    `suites` are those of the findings, by name.
    """
    groups = group_by_document(findings, documents.documents)
    figures = {
        folder / f"{document.slug}.svg": draw_intervals(rows, _heading(document))
        for document, own in groups.items()
        if (rows := find_rows(_numbered(document, own)))
    }
    text = "\n".join(_lines(groups, suites, documents, {path.stem: path for path in figures})) + "\n"
    return {**figures, PurePath(): text}


def count_verdicts(findings: Sequence[Finding]) -> str:
    """Return '36 findings: 20 holds, 2 refuted, 14 missing'."""
    counts = Counter(each.verdict for each in findings)
    said = ", ".join(f"{counts[each]} {each}" for each in VERDICTS if counts[each])
    return f"{plural(len(findings), 'finding')}: {said}" if said else "no claims"


def _lines(
    groups: Mapping[Document, Sequence[Finding]],
    suites: Mapping[str, Suite],
    documents: Documents,
    figures: Mapping[str, PurePath],
) -> Iterator[str]:
    runs = _number_runs(groups)
    yield from (MADE, "", f"# {documents.title}", "")
    if documents.introduction:
        yield from (documents.introduction.strip(), "")
    yield from (READING.format(budget=BUDGET), "")
    yield from _overview(groups)
    for document, findings in groups.items():
        yield from ("", f"## {_heading(document)}", "")
        if document.about:
            yield from (document.about.strip(), "")
        if document.slug in figures:
            yield from (f"![What was found beside what is claimed]({figures[document.slug]})", "")
        yield from _claims(document, findings, runs) if findings else ["No suite has a claim of it."]
    if runs:
        yield from ("", "## Runs", "")
        yield from _runs(runs, suites)


def _heading(document: Document) -> str:
    return document.title or document.name or _OTHERS


def _number_runs(groups: Mapping[Document, Sequence[Finding]]) -> dict[str, tuple[int, str, Bundle]]:
    """Return the bundles that the page is about, by path, each with a number and its suite."""
    found: dict[str, tuple[int, str, Bundle]] = {}
    every = [each for findings in groups.values() for each in findings]
    for each in sorted(every, key=lambda one: one.suite):
        if each.bundle is not None and each.bundle.path.as_posix() not in found:
            found[each.bundle.path.as_posix()] = len(found) + 1, each.suite, each.bundle
    return found


def _overview(groups: Mapping[Document, Sequence[Finding]]) -> Iterator[str]:
    counts = {document: Counter(_find_verdicts(findings)) for document, findings in groups.items()}
    used = [each for each in (*VERDICTS, _DIFFERS) if any(each in own for own in counts.values())]
    yield _row(["document", *used])
    yield "|---|" + "---:|" * len(used)
    for document, own in counts.items():
        yield _row([escape_markdown(document.name) or _OTHERS, *(str(own[each] or "") for each in used)])


def _find_verdicts(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield one verdict a claim, however many runs decide it."""
    claims: dict[tuple[str, str], list[Standing | Absence]] = {}
    for each in findings:
        claims.setdefault((each.suite, each.claim.digest), []).append(each.verdict)
    for verdicts in claims.values():
        found = {*([each for each in verdicts if isinstance(each, Standing)] or verdicts)}
        yield found.pop() if len(found) == 1 else _DIFFERS


def _numbered(document: Document, findings: Sequence[Finding]) -> list[tuple[str, Finding]]:
    """Return the findings with what each is called in the figure: its number and place."""
    return [
        (f"{number} · {document.place(each.claim.source) or each.claim.says}", each)
        for number, each in enumerate(findings, 1)
    ]


def _claims(
    document: Document, findings: Sequence[Finding], runs: Mapping[str, tuple[int, str, Bundle]]
) -> Iterator[str]:
    yield _row(["", "claim", "verdict", "what was found", "run"])
    yield "|---:|---|---|---|---|"
    several = Counter((each.suite, each.claim.digest) for each in findings)
    for number, each in enumerate(findings, 1):
        place = document.place(each.claim.source)
        says = escape_markdown(each.claim.says.rstrip("."))
        mark = MARKS[each.verdict] if isinstance(each.verdict, Standing) else "…"
        command = (
            "" if each.claim.reason else _code(suite_command(each.suite, each.bundle and each.bundle.run))
        )
        if each.bundle is not None:
            command = f"[{command}](#run-{runs[each.bundle.path.as_posix()][0]})"
            if several[each.suite, each.claim.digest] > 1:
                command += f" on {escape_markdown(describe_machine(each.bundle.run))}"
        said = f"{says} ({escape_markdown(place)})" if place else says
        found = _text(each.found)
        if each.reworded:
            found += f"; registered as “{escape_markdown(each.reworded)}”"
        yield _row(
            [
                str(number),
                said,
                f"{mark}\N{NO-BREAK SPACE}{each.label or each.verdict}",
                found,
                command,
            ]
        )


def _runs(runs: Mapping[str, tuple[int, str, Bundle]], suites: Mapping[str, Suite]) -> Iterator[str]:
    yield _row(["", "command", "machine", "date", "commit", "trials", "bundle"])
    yield "|---:|---|---|---|---|---|---|"
    for path, (number, suite, bundle) in runs.items():
        run = bundle.run
        project = run.environment.project
        commit = (
            f"{project.commit[:COMMIT_DIGITS]}{', changed' if project.changed else ''}" if project else ""
        )
        yield _row(
            [
                f'<a id="run-{number}"></a>{number}',
                _code(suite_command(suite, run)),
                escape_markdown(describe_machine(run)),
                run.started.partition("T")[0],
                commit or "not known",
                _trials(bundle, suites[suite]),
                _code(path),
            ]
        )


def _trials(bundle: Bundle, suite: Suite) -> str:
    """Return how large a run was, and how many of its trials broke or were skipped."""
    run, (ran, asked) = bundle.run, count_repetitions(suite, bundle)
    skipped = run.counts.get(Status.SKIPPED.value, 0)
    size = ["quick"] * run.environment.changes.quick
    size += [f"{ran} of {asked} repetitions"] * (ran < asked)
    said = [f"{run.ended:,}", *(size or ["full"]), *([f"{run.faults} failed"] * bool(run.faults))]
    said += [f"{skipped} skipped"] * bool(skipped) + ["stopped"] * bool(run.standing)
    return ", ".join(said)


def _text(text: str) -> str:
    """Return text for a cell; the tests that it names stay readable for programs."""
    parts = _TEST.split(text)
    return "".join(_code(part) if place % 2 else escape_markdown(part) for place, part in enumerate(parts))


def _code(text: str) -> str:
    return f"`{printable(text).replace('`', '').replace('|', chr(92) + '|')}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
