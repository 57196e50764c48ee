"""What `benchfw run` says before anything runs.

The smallest differences that a suite can find, and what is different from the run of a bundle.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from benchfw.analysis.claims import find_fewest_runs
from benchfw.analysis.decisions import Family
from benchfw.analysis.evidence import PairedLogs
from benchfw.analysis.medians import CHECKED_PAIRS
from benchfw.analysis.power import largest_spread, smallest_ratio
from benchfw.analysis.significance import FEWEST_PAIRS
from benchfw.api.planning import Planned
from benchfw.api.running import look_up, tuned_suite
from benchfw.harness.agenda import Agenda
from benchfw.harness.options import Options
from benchfw.provenance import Environment, Run
from benchfw.records import Result, Trial
from benchfw.report.commands import compare_command
from benchfw.report.text import align, figures, flat_facts, plural, printable
from benchfw.store import Store
from benchfw.summary.summarize import summarize
from benchfw.tuning.run import at_middle

COMPARED_FACTS = ("python", "packages.", "sources.", "datasets.", "backends.", "threads", "jobs")
"""The facts, by the start of their names, that may make a difference to records or times."""


LARGEST_RATIO = 100.0  # a promise to find a larger one helps nobody


@dataclass(frozen=True)
class Reach:
    """The smallest ratio that is found with 90 % chance, of each method to its reference in one quantity."""

    problem: str
    quantity: str
    ratios: Mapping[str, float]
    pairs: int  # of the earlier run, the fewest


def describe_too_few(planned: Planned) -> Iterator[str]:
    """Yield a line if the repetitions of a suite are too few to decide all its claims."""
    quick, count = planned.changes.quick, planned.trials.repetitions
    tested = [each for each in planned.suite.claims if not each.left_out and not each.is_excused(quick=quick)]
    fewest = max(find_fewest_runs(tested), default=0)
    if count < fewest:
        which = {1: "its claim", 2: "both claims"}.get(len(tested), f"all {len(tested)} claims")
        times = f"{plural(count, 'repetition')} {'is' if count == 1 else 'are'} too few to decide {which}"
        name = printable(planned.suite.name)
        yield f"{name}: {times}: at least {fewest} are needed (--repetitions {fewest})"


def describe_reach(agenda: Agenda, store: Path) -> Iterator[str]:
    """Yield lines on the smallest differences that a suite can find; none where it compares nothing."""
    trials = agenda.trials
    # a kernel is compared with itself on another backend
    rivals = Counter(
        cell[:3] if cell.kind == "kernel" else cell[:2] for cell in {each.cell for each in trials.firsts}
    )
    if max(rivals.values(), default=0) < 2:
        return
    count = trials.repetitions
    name, times = printable(agenda.suite.name), plural(count, "repetition")
    if count < FEWEST_PAIRS:
        yield f"{name}: {times} can find no difference; {FEWEST_PAIRS} are the fewest that can"
        return
    found = _earlier_reach(agenda, store)
    if found is None:
        yield (
            f"{name}: how small a difference {times} can find is not known before a pilot: "
            f"run it with --repetitions {CHECKED_PAIRS}, then --dry-run again"
        )
        return
    run, reaches, comparisons = found
    yield (
        f"{name}: the smallest ratios that {times} find with 90 % chance, by the largest normal noise that "
        f"run {run} allows for ({plural(comparisons, 'comparison')} in the report):"
    )
    rows = [(each.problem, each.quantity, _ratio_text(each.ratios)) for each in reaches]
    yield from align(("problem", "quantity", "smallest ratio"), rows, left=3)
    fewest = min(each.pairs for each in reaches)
    if fewest < CHECKED_PAIRS:
        yield (
            f"{name}: run {run} has {plural(fewest, 'paired run')}, too few to show whether data are of "
            f"two kinds: a pilot of {CHECKED_PAIRS} is safer"
        )


def _earlier_reach(agenda: Agenda, store: Path) -> tuple[int, list[Reach], int] | None:
    """Return what the newest run with trials like these tells, and its number."""
    if not store.exists():
        return None
    with Store(store) as opened:
        for run in reversed(opened.runs()):
            if run.suite == agenda.suite.name:
                reaches, comparisons = find_reach(agenda.trials, run, opened.results(run.id))
                if reaches:
                    return run.id, reaches, comparisons
    return None


def find_reach(trials: Sequence[Trial], run: Run, results: Iterable[Result]) -> tuple[list[Reach], int]:
    """Return what planned trials can find, by those of an earlier run, and how many comparisons share 5 %.

    A lone difference is meant, whose interval has the level 1 - 5 % / comparisons; where many methods differ,
    each is found more easily. The spread is what that of the log ratios is at most by the earlier
    repetitions, which are few; brackets, of looks and of a busy machine, add to it. Nothing where the run
    has no trials like these, or one of each.
    """
    wanted = {_setting(trial) for trial in trials}
    alike = [each for each in results if not each.trial.tuning and _setting(each.trial) in wanted]
    count = 1 + max((trial.repetition for trial in trials), default=-1)
    summary = summarize(run, alike)
    found = [
        (comparison, cell, quantity, decision.evidence)
        for comparison in summary.comparisons
        for (cell, quantity), decision in comparison.decisions.items()
        if decision.evidence is not None
    ]
    # all that has evidence, since more repetitions than the earlier run had may decide it
    others = max((comparison.family.others for comparison in summary.comparisons), default=0)
    family = Family(len(found), others)
    allowed = family.budget / max(len({cell for _, cell, *_ in found}), 1)
    ratios: dict[tuple[str, str], dict[str, float]] = {}
    pairs: dict[tuple[str, str], int] = {}
    for comparison, cell, quantity, evidence in found:
        if isinstance(evidence, PairedLogs) and math.isfinite(evidence.spread):
            spread = largest_spread(evidence.spread, evidence.count)
            ratio = smallest_ratio(spread, count, family.lone_level, allowed)
            ratio *= math.exp(min(evidence.width, 700.0))
            unit = f"{comparison.cost_unit} to target"
            label = unit if quantity == "cost_to_target" else quantity.replace("_", " ")
            place = comparison.problem, label
            ratios.setdefault(place, {})[comparison.name(cell)] = ratio
            pairs[place] = min(pairs.get(place, evidence.count), evidence.count)
    return [Reach(*place, each, pairs[place]) for place, each in ratios.items()], family.comparisons


def _setting(trial: Trial) -> tuple[object, ...]:
    """Return what trials must share for the spread of one to tell that of the other."""
    tables = str(trial.problem.table), str(trial.method.table)
    return trial.cell, *tables, trial.budget, str(dict(trial.target)), trial.precision, trial.at, trial.best


def _ratio_text(ratios: Mapping[str, float]) -> str:
    """Return the largest of the ratios with its method: the smallest may owe that to luck."""
    most = max(ratios, key=lambda each: ratios[each])
    if ratios[most] > LARGEST_RATIO:
        return "too few runs to plan from"
    among = f", the largest of {len(ratios)}" if len(ratios) > 1 else ""
    return f"{figures(ratios[most], side=1)} ({printable(most)}{among})"


def describe_outdated(outdated: Mapping[str, int]) -> Iterator[str]:
    """Yield a line on trials that run again though the store has them, for each thing that has changed."""
    for reason, count in outdated.items():
        yield printable(f"{plural(count, 'trial')} run{'s' if count == 1 else ''} again: {reason}")


def print_differences(run: Run, planned: Planned, store: Path, options: Options) -> None:
    """Say what a bundle holds, what is different here, and how to compare."""
    here = look_up(_settled(planned, options), store, options).environment
    trials = plural(run.ended, "trial")
    click.echo(
        f"{run.store}: {trials} of suite {printable(run.suite)}, started {printable(run.started)}", err=True
    )
    for line in list(differences(run.environment, here)) or ["the same versions, sources and devices here"]:
        click.echo(f"  {printable(line)}", err=True)
    click.echo(
        f"afterwards `{printable(compare_command(str(run.store), 'last', store))}` says what changed",
        err=True,
    )


def _settled(planned: Planned, options: Options) -> Planned:
    """Return a suite with what it tunes in the middle of its space: that makes no difference to versions."""
    tuned = tuned_suite(planned, options)
    return planned if tuned is None else replace(planned, trials=at_middle(tuned))


def differences(then: Environment, now: Environment) -> Iterator[str]:
    """Yield the facts that two environments do not share."""
    before, here = dict(flat_facts(then.to_json())), dict(flat_facts(now.to_json()))
    said = set()
    for name in {**before, **here}:
        values = before.get(name, "none"), here.get(name, "none")
        short = name.rpartition(".")[2]  # NumPy is a package, and part of what a backend says too
        if name.startswith(COMPARED_FACTS) and values[0] != values[1] and (short, values) not in said:
            said.add((short, values))
            yield f"{name}: {values[0]} in the bundle, {values[1]} here"
