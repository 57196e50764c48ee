"""Sentences on tuning: how it was done, what was chosen, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchfw.records import GAP, Cell
from benchfw.report.text import FEW_NAMES, join_names, plural
from benchfw.report.tuning.problems import TunedProblem, setting_value, settings_text, tuned_problems
from benchfw.search import ONE_SETTING
from benchfw.summary.model import Summary, short_name
from benchfw.summary.tuned import TunedMethod, chosen_across


def describe_problem(tuned: TunedProblem) -> str:
    """Return what was chosen for the methods of one problem, or how far tuning is."""
    if tuned.comparison is None:
        runs = [f"{plural(each.runs, 'run')} of {tuned.name(each.cell)}" for each in tuned.methods]
        return f"No verdict yet: tuning has not ended ({join_names(runs)} so far)"
    chosen = [(tuned.name(each.cell), settings_text(each.chosen.setting)) for each in tuned.methods]
    return f"Chosen: {_list_settings(chosen)}"


def _list_settings(settings: Sequence[tuple[str, str]]) -> str:
    between = "; " if any(", " in text for _, text in settings) else ", "
    shown = [f"{name} {text}" for name, text in settings[:FEW_NAMES]]
    more = len(settings) - FEW_NAMES
    return between.join([*shown, *([f"{more} more in the table"] if more > 0 else [])])


def describe_tuning(summary: Summary) -> list[str]:
    """Return how all methods were tuned, once for a report; nothing where none was."""
    problems = tuned_problems(summary)
    if not problems:
        return []
    ended = all(each.comparison for each in problems)
    rest = list(dict.fromkeys(cell.method for each in problems for cell in each.untuned))
    others = f"; {join_names(rest)} {'has' if len(rest) == 1 else 'have'} nothing to tune" if rest else ""
    where = " on each problem" if len(problems) > 1 else ""
    amount = f"{_aims_text(problems)} with {_amount_text(problems, ended=ended)}{where}"
    verb, seeds = "was" if ended else "is", "other seeds than the verdict's"
    said = [f"Each method {verb} tuned for {amount}, on {seeds}{others}"]
    if ended:
        said.append("The verdict is about the settings that were chosen: another tuning may choose others")
        if problems[0].allowance.across:
            said.append(_across_sentence(problems))
    if any(method.timed for each in problems for method in each.methods):
        said.append(
            "The choice depends on seconds: on another machine, or with other --jobs, it may be another one"
        )
    return said


def _aims_text(problems: Sequence[TunedProblem]) -> str:
    """Return 'gradients to gap 0.0001', or what each of the problems is tuned for."""
    aims: dict[str, list[str]] = {}
    for each in problems:
        aims.setdefault(each.aim, []).append(each.problem)
    if len(aims) == 1:
        return problems[0].aim
    return " and ".join(f"{aim} ({join_names(named)})" for aim, named in aims.items())


def _amount_text(problems: Sequence[TunedProblem], *, ended: bool) -> str:
    """Return '16 settings x 3 runs': as many as were tried, where tuning has ended."""
    tuning = problems[0].allowance
    tried = (
        {len(method.attempts) for each in problems for method in each.methods} if ended else {tuning.trials}
    )
    most = f"{'up to ' if len(tried) > 1 else ''}{plural(max(tried), 'setting')}"
    return f"{most} x {plural(tuning.repetitions, 'run')}"


def _across_sentence(problems: Sequence[TunedProblem]) -> str:
    groups: dict[Cell, list[TunedMethod]] = {}
    for method in (method for each in problems for method in each.methods):
        groups.setdefault(method.cell._replace(problem=""), []).append(method)
    chosen = [
        (short_name(cell, among=groups), settings_text(chosen_across(group)))
        for cell, group in groups.items()
    ]
    return f"Methods with '({ONE_SETTING})' have the same setting on all problems: {_list_settings(chosen)}"


def warn_of_tuning(tuned: TunedProblem) -> list[str]:
    """Return what a reader must know of the choices on one problem: faults, edges, missed targets."""
    if tuned.comparison is None:
        return []
    return [*_unknown(tuned), *_failures(tuned), *_edges(tuned)]


def _unknown(tuned: TunedProblem) -> Iterator[str]:
    names = list(dict.fromkeys(name for each in tuned.methods for name in each.unknown))
    if names:
        verb = "is" if len(names) == 1 else "are"
        alike = "; ties were broken by what it took to get there" if GAP in names else ""
        yield (
            f"The {join_names(names)} {verb} not known in tuning: settings were chosen by the "
            f"{tuned.value_name}{alike}"
        )


def _failures(tuned: TunedProblem) -> Iterator[str]:
    standings = {each.cell: each.chosen.score.standing for each in tuned.methods}
    broken = [tuned.name(cell) for cell, standing in standings.items() if standing > 1]
    if broken:
        yield f"No setting of {join_names(broken)} finished in tuning: the first was taken; change the space"
    faulty = [
        f"{each.faulty} of {plural(len(each.attempts), 'setting')} of {tuned.name(each.cell)}"
        for each in tuned.methods
        if each.faulty and standings[each.cell] <= 1
    ]
    if faulty:
        yield (
            f"Tuning runs ended by a fault at {join_names(faulty)}: they count as the worst, and another "
            "setting may be better; --retry-failed runs them again"
        )
    missed = [tuned.name(cell) for cell, standing in standings.items() if standing == 1]
    if missed and tuned.first.axis:
        best = "highest" if tuned.first.gain else "lowest"
        yield (
            f"No setting of {join_names(missed)} reached the target in tuning: the one with the {best} "
            f"{tuned.first.metric} at the end was taken; change the space, or allow tuning a larger budget"
        )


def _edges(tuned: TunedProblem) -> Iterator[str]:
    ends: dict[str, list[str]] = {"upper": [], "lower": []}
    for each in tuned.methods:
        # of settings that all break the first was taken, which is not a choice
        for edge in each.find_edges() if each.chosen.score.standing < 2 else ():
            place = f"{setting_value(edge.value)} of {each.spaces[edge.path]}"
            ends[edge.end].append(f"{tuned.name(each.cell)}'s {edge.path} ({place})")
    for end, named in ends.items():
        if named:
            verb, space = ("was", "its space") if len(named) == 1 else ("were", "their spaces")
            more = "larger" if end == "upper" else "smaller"
            yield (
                f"{join_names(named)} {verb} chosen at the {end} end of {space}: {more} values may be "
                "better; widen the space if they make sense"
            )
