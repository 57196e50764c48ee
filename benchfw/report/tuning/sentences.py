"""Sentences on tuning: who leads with how much of it, what was chosen, and what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchfw.records import GAP, Cell
from benchfw.report.text import FEW_NAMES, figures, join_names, plural
from benchfw.report.tuning.problems import (
    TunedProblem,
    ends_text,
    setting_value,
    settings_text,
    tuned_problems,
)
from benchfw.search import ONE_SETTING, Tuning
from benchfw.summary.model import Summary, short_name
from benchfw.summary.tuned import FEWEST_RUNS, FEWEST_SETTINGS, FLAT, TunedMethod, chosen_across, find_leads

MOSTLY = 0.5  # of the settings, that are as good as the best, for a choice that hardly matters


def describe_problem(found: TunedProblem) -> list[str]:
    """Return who leads with how much tuning, and what was chosen, for the methods of one problem."""
    if found.comparison is None:
        runs = join_names(
            [f"{plural(each.runs, 'run')} of {found.name(each.cell)}" for each in found.methods]
        )
        return [f"No verdict yet: tuning has not ended ({runs} so far)"]
    return [each for each in (lead_sentence(found), _chosen_sentence(found)) if each]


def lead_sentence(found: TunedProblem) -> str:
    """Return 'With 2 tuning trials or fewer adam leads; from 8 on svrg does'; nothing for one method."""
    if len(found.methods) < 2:
        return ""
    leads = find_leads(found.methods, found.among)
    if not leads:
        return f"Who would lead with less tuning is not known: {_why_unknown(found)}"
    looks: list[tuple[int | None, str]] = [(each.trials, _leads(found, each.leader)) for each in leads]
    looks.append((None, _verdict_text(found)))
    parts = [[*group] for _, group in groupby(looks, key=lambda look: look[1])]
    full, about = _full_text(found), _about(found)
    if len(parts) == 1:
        with_all = f"with {_count_text(leads[0].trials)}, as with {full}"
        return _capitalize(f"{about}{with_all}, {parts[0][0][1]}")
    said = []
    for number, group in enumerate(parts):
        counts = [count for count, _ in group if count is not None]
        has_verdict = group[-1][0] is None
        if number == 0:
            place = f"with {_count_text(counts[-1])}{' or fewer' if counts[-1] > 1 else ''}"
        elif has_verdict and counts:
            place = f"from {counts[0]} on"
        elif has_verdict:
            place = f"with {full}"
        else:
            place = f"with {counts[0]}" if len(counts) == 1 else f"with {counts[0]} to {counts[-1]}"
        said.append(f"{place} {group[0][1]}")
    return _capitalize(f"{about}{'; '.join(said)}")


def _about(found: TunedProblem) -> str:
    """Return 'among the tuned methods, in gap at the end, ' as far as the verdict is about more, or other."""
    others = [cell for cell in found.untuned if found.comparison and cell in found.comparison.measured]
    among = "among the tuned methods, " if others else ""
    if found.judged_by:
        return f"{among}in {found.value_name} (the verdict: in {found.judged_by}), "
    return among if found.is_main else f"{among}in {found.value_name}, "


def _verdict_text(found: TunedProblem) -> str:
    measured = found.comparison.measured if found.comparison else ()
    missing = [found.name(cell) for cell in found.cells if cell not in measured]
    if missing:
        return f"{join_names(missing)} {'has' if len(missing) == 1 else 'have'} no result to compare"
    if found.lacks_runs:
        return "there are too few runs to say who leads"
    return _leads(found, found.leader)


def _leads(found: TunedProblem, leader: Cell | None) -> str:
    return "no method clearly leads" if leader is None else f"{found.name(leader)} leads"


def _count_text(count: int) -> str:
    return plural(count, "tuning trial")


def _full_text(found: TunedProblem) -> str:
    return f"{found.whole} (the verdict)"


def _why_unknown(found: TunedProblem) -> str:
    if not all(each.is_sequence for each in found.methods):
        return f"what the tuner '{found.allowance.tuner}' tries depends on the allowance"
    if min(len(one.scores) for each in found.methods for one in each.attempts) < FEWEST_RUNS:
        return f"that needs {FEWEST_RUNS} tuning runs of each setting (tune.repetitions)"
    return f"that needs {FEWEST_SETTINGS} settings of each method"


def _chosen_sentence(found: TunedProblem) -> str:
    rounds = len(found.first.rounds)
    several = f" (median and range of {rounds} tunings)" if rounds > 1 else ""
    first = sorted(found.methods, key=lambda each: each.cell != found.leader)  # if not all are shown
    said = [(found.name(each.cell), settings_text(each, each.chosen)) for each in first]
    return f"Chosen{several}: {_list_settings(said)}"


def _list_settings(said: Sequence[tuple[str, str]]) -> str:
    between = "; " if any(", " in text for _, text in said) else ", "
    shown = [f"{name} {text}" for name, text in said[:FEW_NAMES]]
    more = len(said) - FEW_NAMES
    return between.join([*shown, *([f"{more} more in the table"] if more > 0 else [])])


def describe_tuning(summary: Summary) -> list[str]:
    """Return how all methods were tuned, once for a report; nothing where none was."""
    problems = tuned_problems(summary)
    if not problems:
        return []
    tuning, ended = problems[0].allowance, all(each.comparison for each in problems)
    rest = list(dict.fromkeys(cell.method for each in problems for cell in each.untuned))
    others = f"; {join_names(rest)} {'has' if len(rest) == 1 else 'have'} nothing to tune" if rest else ""
    verb, seeds = "was" if ended else "is", "other seeds than the verdict's"
    where = " on each problem" if len(problems) > 1 else ""
    amount = _tried_text(problems) if ended else _allowance_text(tuning)
    said = [f"Each method {verb} tuned for {_aims_text(problems)} with {amount}{where}, on {seeds}{others}"]
    if ended or tuning.repeats:
        said.append(_spread_sentence(tuning))
    if tuning.across and ended:
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


def _tried_text(problems: Sequence[TunedProblem]) -> str:
    """Return '16 settings x 3 runs' as they were tried; of short runs also how many whole ones they make."""
    methods = [method for each in problems for method in each.methods]
    tried = {count for each in methods for count in each.tried}
    most = f"{'up to ' if len(tried) > 1 else ''}{plural(max(tried), 'setting')}"
    runs = max(len(one.scores) for each in methods for attempts in each.rounds for one in attempts)
    shares = {one.share for each in methods for attempts in each.rounds for one in attempts}
    budgets = max(count for each in methods for count in each.budgets)
    worth = f" (as much as {figures(budgets)} with the whole budget)" if len(shares) > 1 else ""
    tuning = problems[0].allowance
    within = f", within {_limit_text(tuning)}" if tuning.trials is None else ""
    return f"{most} x {plural(runs, 'run')}{worth}{within}"


def _allowance_text(tuning: Tuning) -> str:
    runs = f"x {plural(tuning.repetitions, 'run')}"
    if tuning.trials is not None:
        return f"an allowance of {plural(tuning.trials, 'setting')} {runs}"
    return f"as many settings {runs} as {_limit_text(tuning)} allows"


def _limit_text(tuning: Tuning) -> str:
    return f"a cost of {tuning.cost:g}" if tuning.cost is not None else f"a time of {tuning.seconds:g} s"


def _spread_sentence(tuning: Tuning) -> str:
    if tuning.repeats:
        return "Each repetition has a tuning of its own, whose spread is part of the intervals"
    return (
        "The verdict is about the settings that were chosen: another tuning may choose others, which "
        "tune.repeats = true makes part of the intervals"
    )


def _across_sentence(problems: Sequence[TunedProblem]) -> str:
    methods = [method for each in problems for method in each.methods]
    groups: dict[Cell, list[TunedMethod]] = {}
    for each in methods:
        groups.setdefault(each.cell._replace(problem=""), []).append(each)
    said = [
        (short_name(cell, among=groups), settings_text(group[0], chosen_across(group)))
        for cell, group in groups.items()
    ]
    return f"Methods with '({ONE_SETTING})' have the same setting on all problems: {_list_settings(said)}"


def warn_of_tuning(found: TunedProblem) -> list[str]:
    """Return what a reader must know of the choices on one problem: faults, edges, ties, missed targets."""
    if found.comparison is None:
        return []
    return [*_unknown(found), *_failures(found), *_edges(found), *_flat(found)]


def _unknown(found: TunedProblem) -> Iterator[str]:
    names = list(dict.fromkeys(name for each in found.methods for name in each.unknown))
    if names:
        verb = "is" if len(names) == 1 else "are"
        alike = "; ties were broken by what it took to get there" if GAP in names else ""
        yield (
            f"The {join_names(names)} {verb} not known in tuning: settings were chosen by the "
            f"{found.value_name}{alike}"
        )


def _failures(found: TunedProblem) -> Iterator[str]:
    standings = {each.cell: max(one.score.standing for one in each.chosen) for each in found.methods}
    broken = [found.name(cell) for cell, standing in standings.items() if standing > 1]
    if broken:
        yield f"No setting of {join_names(broken)} finished in tuning: the first was taken; change the space"
    faulty = [
        f"{each.faulty} of {plural(len(each.attempts), 'setting')} of {found.name(each.cell)}"
        for each in found.methods
        if each.faulty and standings[each.cell] <= 1
    ]
    if faulty:
        yield (
            f"Tuning runs ended by a fault at {join_names(faulty)}: they count as the worst, and another "
            "setting may be better; --retry-failed runs them again"
        )
    missed = [found.name(cell) for cell, standing in standings.items() if standing == 1]
    if missed and found.first.axis:
        best = "highest" if found.first.gain else "lowest"
        yield (
            f"No setting of {join_names(missed)} reached the target in tuning: the one with the {best} "
            f"{found.first.metric} at the end was taken; change the space, or allow tuning a larger budget"
        )


def _edges(found: TunedProblem) -> Iterator[str]:
    ends: dict[str, list[str]] = {"upper": [], "lower": []}
    for each in found.methods:
        # of settings that all break the first was taken, which is not a choice
        for edge in each.edges if each.chosen[0].score.standing < 2 else ():
            place = f"{setting_value(edge.value)} of {ends_text(each.spaces[edge.path])}"
            ends[edge.end].append(f"{found.name(each.cell)}'s {edge.path} ({place})")
    for end, named in ends.items():
        if named:
            verb, space = ("was", "its space") if len(named) == 1 else ("were", "their spaces")
            more = "larger" if end == "upper" else "smaller"
            yield (
                f"{join_names(named)} {verb} chosen at the {end} end of {space}: {more} values may be "
                "better; widen the space if they make sense"
            )


def _flat(found: TunedProblem) -> Iterator[str]:
    flat, tied = [], []
    for each in found.methods:
        total = sum(one.share == each.chosen[0].share for one in each.rounds[0])
        if each.chosen[0].score.standing > (0 if each.axis else 1) or total < 2:
            continue
        if each.as_good >= max(2, MOSTLY * total):
            flat.append(f"{each.as_good} of {total} of {found.name(each.cell)}")
        elif each.equals > 1:
            tied.append(f"{each.equals} of {found.name(each.cell)}")
    within = f"within {round(100 * (FLAT - 1))} % of the best"
    if flat:
        yield f"Settings {within}: {join_names(flat)}"
    if tied:
        yield f"Settings that score the same as the best: {join_names(tied)}; the first of them was taken"


def _capitalize(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
