"""What a report says about tuning, from runs with known response to a step."""

import math
from dataclasses import replace

import pytest

from benchfw.report.tuning.problems import tuned_problems
from benchfw.report.tuning.sentences import describe_problem, describe_tuning, warn_of_tuning
from benchfw.report.tuning.tables import tuning_tables


def bowl(best, width=1.0, least=100.0):
    """Return the cost to the target of a method whose best step is known; far from it, it never arrives."""

    def cost(step, repetition):
        distance = abs(math.log10(step / best)) / width
        return math.inf if distance > 1 else least * (1 + 9 * distance**2) * (1 + 0.01 * repetition)

    return cost


def level(cost):
    return lambda step, repetition: cost * (1 + 0.001 * math.log10(step) + 0.01 * repetition)


def said(summary):
    (found,) = tuned_problems(summary)
    return describe_problem(found), warn_of_tuning(found)


def test_who_leads_with_how_much_tuning_is_said_with_the_settings_chosen(tuned):
    robust, narrow = level(500), bowl(0.1, width=0.5)
    sentences, warnings = said(tuned({"robust": robust, "narrow": narrow}, {"robust": 500, "narrow": 100}))
    lead, chosen = sentences
    assert lead.startswith("With 1 tuning trial robust leads; ")
    assert lead.endswith("narrow leads")
    assert "16 (the verdict)" in lead or "on narrow leads" in lead
    assert chosen == "Chosen: narrow step 0.07499, robust step 0.001334"  # the leader first
    assert any(each == "Settings within 10 % of the best: 16 of 16 of robust" for each in warnings)


def test_methods_alike_are_not_told_apart_by_any_allowance(tuned):
    sentences, _ = said(tuned({"a": bowl(0.1), "b": bowl(0.1)}, {"a": 100, "b": 100}))
    assert sentences[0] == "With 1 tuning trial, as with 16 (the verdict), no method clearly leads"


def test_one_leader_throughout_is_said_once(tuned):
    sentences, _ = said(tuned({"a": level(100), "b": level(900)}, {"a": 100, "b": 900}))
    assert sentences[0] == "With 1 tuning trial, as with 16 (the verdict), a leads"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"is_sequence": False, "tuner": "halving"},
            "what the tuner 'halving' tries depends on the allowance",
        ),
        ({"repetitions": 1}, "that needs 3 tuning runs of each setting (tune.repetitions)"),
        ({"trials": 4}, "that needs 8 settings of each method"),
    ],
)
def test_where_smaller_allowances_are_not_known_the_reason_is_said(tuned, changes, why):
    sentences, _ = said(tuned({"a": level(100), "b": level(900)}, {"a": 100, "b": 900}, **changes))
    assert sentences[0] == f"Who would lead with less tuning is not known: {why}"


def test_a_choice_at_the_end_of_its_space_is_named_with_its_direction(tuned):
    _, warnings = said(tuned({"up": bowl(10, 2), "down": bowl(0.001, 2), "in": bowl(0.1)}, {"in": 100}))
    assert warnings[0] == (
        "up's step (7.499 of 0.001 to 10) was chosen at the upper end of its space: larger values may be "
        "better; widen the space if they make sense"
    )
    assert "down's step (0.001334 of 0.001 to 10) was chosen at the lower end" in warnings[1]
    assert "smaller values" in warnings[1]
    assert len(warnings) == 2


def test_settings_that_all_fail_and_ties_are_said(tuned):
    never, breaks = (lambda *_: math.inf), (lambda *_: math.nan)
    tied = lambda step, _: 100.0 if 0.05 < step < 0.3 else math.inf  # noqa: E731
    _, warnings = said(tuned({"never": never, "breaks": breaks, "tied": tied}, {"tied": 100}))
    broke, missed, edge, equal = warnings
    assert broke == "No setting of breaks finished in tuning: the first was taken; change the space"
    assert missed == (
        "No setting of never reached the target in tuning: the one with the lowest gap at the end was taken; "
        "change the space, or allow tuning a larger budget"
    )
    assert edge.startswith("never's step (0.001334 of 0.001 to 10) was chosen at the lower end")
    assert equal == "Settings that score the same as the best: 3 of tied; the first of them was taken"


def test_settings_with_runs_that_ended_by_a_fault_may_be_better_than_they_seem(tuned):
    good, faulty = bowl(0.1), lambda step, run: math.nan if step > 1 and run == 1 else bowl(0.1)(step, run)
    _, warnings = said(tuned({"good": good, "faulty": faulty}, {"good": 100, "faulty": 100}))
    (only,) = warnings
    assert only == (
        "Tuning runs ended by a fault at 4 of 16 settings of faulty: they count as the worst, and another "
        "setting may be better; --retry-failed runs them again"
    )


def test_how_all_methods_were_tuned_is_said_once(tuned):
    methods, verdict = {"a": bowl(0.1), "b": bowl(0.1)}, {"a": 100, "b": 100, "plain": 300}
    first, spread = describe_tuning(tuned(methods, verdict))
    assert first == (
        "Each method was tuned for gradients to gap 1 with 16 settings x 3 runs, on other seeds than the "
        "verdict's; plain has nothing to tune"
    )
    assert "another tuning may choose others" in spread
    repeated = describe_tuning(tuned(methods, verdict, repeats=True))
    assert repeated[1] == "Each repetition has a tuning of its own, whose spread is part of the intervals"
    timed = describe_tuning(tuned(methods, verdict, metric="seconds to target"))
    assert timed[-1].startswith("The choice depends on seconds: on another machine, or with other --jobs")
    limited = describe_tuning(tuned(methods, verdict, trials=16, cost=500.0))
    assert "with 5 settings x 3 runs" in limited[0]
    assert describe_tuning(tuned({}, verdict)) == []


def test_untuned_rivals_are_left_out_of_who_leads(tuned):
    summary = tuned({"a": level(100), "b": level(900)}, {"a": 100, "b": 900, "plain": 10})
    assert said(summary)[0][0].startswith("Among the tuned methods, with 1 tuning trial, as with 16")


def test_tuning_that_has_not_ended_has_no_verdict(tuned):
    summary = tuned({"a": level(100), "b": level(900)})
    assert said(summary) == (
        ["No verdict yet: tuning has not ended (48 runs of a and 48 runs of b so far)"],
        [],
    )
    (only,) = describe_tuning(summary)  # nothing on what the verdict is about
    assert only == (
        "Each method is tuned for gradients to gap 1 with an allowance of 16 settings x 3 runs, on other "
        "seeds than the verdict's"
    )


def test_what_was_tried_is_said_and_not_what_was_allowed(tuned):
    methods, verdict = {"a": bowl(0.1), "b": bowl(0.1)}, {"a": 100, "b": 100}
    summary = tuned(methods, verdict)
    few = replace(summary.tuned[0], rounds=(summary.tuned[0].rounds[0][:3],))
    both, alike = (replace(summary, tuned=each) for each in ((few, summary.tuned[1]), (few, few)))
    assert "tuned for gradients to gap 1 with up to 16 settings x 3 runs, on" in describe_tuning(both)[0]
    assert "with 3 settings x 3 runs, on" in describe_tuning(alike)[0]
    (whole,) = summary.tuned[0].rounds
    short = tuple(each._replace(share=1 / 3) for each in whole)
    halved = replace(summary.tuned[0], rounds=((*short, *whole[:2]),))
    assert (
        "with 16 settings x 3 runs (as much as 7.33 with the whole budget), on"
        in describe_tuning(replace(summary, tuned=(halved,)))[0]
    )


def test_where_no_tuning_run_knows_the_target_the_end_is_what_chose(tuned):
    methods = {"a": lambda step, _: 10 * step, "b": lambda step, _: 20 * step}
    summary = tuned(methods, {"a": 100, "b": 100}, measured="objective")
    assert describe_tuning(summary)[0].startswith("Each method was tuned for objective at the end with 16")
    sentences, warnings = said(summary)
    assert warnings[0] == (
        "The gap is not known in tuning: settings were chosen by the objective at the end; ties "
        "were broken by what it took to get there"
    )
    assert sentences[0].startswith(
        "In objective at the end (the verdict: in gradients to target), with 1 tuning trial"
    )
    assert not any("reached the target" in each for each in (*sentences, *warnings))
    (found,) = tuned_problems(summary)
    chosen, allowance = tuning_tables(found)
    assert chosen.table.header[2:4] == ("objective at the end in tuning", "settings that finish")
    assert [row[3] for row in chosen.table.rows] == ["16 of 16"] * 2
    assert not any("never" in text for row in allowance.table.rows for text in row[:-1])


@pytest.mark.parametrize(
    ("runs", "verdict"), [(3, "there are too few runs to say who leads"), (6, "a leads")]
)
def test_a_verdict_with_too_few_runs_is_not_called_noise(tuned, runs, verdict):
    methods = {"a": level(100), "b": level(100)}
    sentences, _ = said(tuned(methods, {"a": 100, "b": math.nan}, runs=runs))
    assert sentences[0].endswith(f"with 16 (the verdict) {verdict}")
    noise, _ = said(tuned(methods, {"a": 100, "b": 100}, runs=3))
    assert noise[0] == "With 1 tuning trial, as with 16 (the verdict), no method clearly leads"
    few, _ = said(tuned(methods, {"a": 100, "b": 100}, runs=2))
    assert few[0].endswith("with 16 (the verdict) there are too few runs to say who leads")
    nothing, _ = said(tuned(methods, {"a": 100}, runs=runs))
    assert nothing[0].endswith("with 16 (the verdict) b has no result to compare")
