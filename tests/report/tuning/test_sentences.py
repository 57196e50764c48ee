"""What a report says about tuning, from runs with known response to a step."""

import math
from dataclasses import replace

from benchfw.report.tuning.problems import tuned_problems
from benchfw.report.tuning.sentences import describe_problem, describe_tuning, warn_of_tuning
from benchfw.report.tuning.tables import tuning_table


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


def test_the_settings_that_were_chosen_are_said(tuned):
    said_of_both, warnings = said(
        tuned({"robust": level(500), "narrow": bowl(0.1, 0.5)}, {"robust": 500, "narrow": 100})
    )
    assert said_of_both == "Chosen: robust step 0.001334, narrow step 0.07499"
    assert len(warnings) == 1
    many, _ = said(tuned({name: bowl(0.1) for name in "abcdefghij"}, dict.fromkeys("abcdefghij", 100)))
    assert many.endswith(" more in the table")


def test_a_choice_at_the_end_of_its_space_is_named_with_its_direction(tuned):
    _, warnings = said(tuned({"up": bowl(10, 2), "down": bowl(0.001, 2), "in": bowl(0.1)}, {"in": 100}))
    assert warnings[0] == (
        "up's step (7.499 of 0.001 to 10, log) was chosen at the upper end of its space: larger values may "
        "be better; widen the space if they make sense"
    )
    assert "down's step (0.001334 of 0.001 to 10, log) was chosen at the lower end" in warnings[1]
    assert "smaller values" in warnings[1]
    assert len(warnings) == 2


def test_settings_that_all_fail_are_said(tuned):
    never, breaks = (lambda *_: math.inf), (lambda *_: math.nan)
    _, warnings = said(tuned({"never": never, "breaks": breaks, "fine": bowl(0.1)}, {"fine": 100}))
    broke, missed, edge = warnings
    assert broke == "No setting of breaks finished in tuning: the first was taken; change the space"
    assert missed == (
        "No setting of never reached the target in tuning: the one with the lowest gap at the end was taken; "
        "change the space, or allow tuning a larger budget"
    )
    assert edge.startswith("never's step (0.001334 of 0.001 to 10, log) was chosen at the lower end")


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
    timed = describe_tuning(tuned(methods, verdict, metric="seconds to target"))
    assert timed[-1].startswith("The choice depends on seconds: on another machine, or with other --jobs")
    assert describe_tuning(tuned({}, verdict)) == []


def test_tuning_that_has_not_ended_has_no_verdict(tuned):
    summary = tuned({"a": level(100), "b": level(900)})
    assert said(summary) == (
        "No verdict yet: tuning has not ended (48 runs of a and 48 runs of b so far)",
        [],
    )
    (only,) = describe_tuning(summary)  # nothing on what the verdict is about
    assert only == (
        "Each method is tuned for gradients to gap 1 with 16 settings x 3 runs, on other seeds than the "
        "verdict's"
    )


def test_what_was_tried_is_said_and_not_what_was_allowed(tuned):
    methods, verdict = {"a": bowl(0.1), "b": bowl(0.1)}, {"a": 100, "b": 100}
    summary = tuned(methods, verdict)
    few = replace(summary.tuned[0], attempts=summary.tuned[0].attempts[:3])
    both, alike = (replace(summary, tuned=each) for each in ((few, summary.tuned[1]), (few, few)))
    assert "tuned for gradients to gap 1 with up to 16 settings x 3 runs, on" in describe_tuning(both)[0]
    assert "with 3 settings x 3 runs, on" in describe_tuning(alike)[0]


def test_where_no_tuning_run_knows_the_target_the_end_is_what_chose(tuned):
    methods = {"a": lambda step, _: 10 * step, "b": lambda step, _: 20 * step}
    summary = tuned(methods, {"a": 100, "b": 100}, measured="objective")
    assert describe_tuning(summary)[0].startswith("Each method was tuned for objective at the end with 16")
    chosen, warnings = said(summary)
    assert warnings[0] == (
        "The gap is not known in tuning: settings were chosen by the objective at the end; ties "
        "were broken by what it took to get there"
    )
    assert not any("reached the target" in each for each in (chosen, *warnings))
    (found,) = tuned_problems(summary)
    table = tuning_table(found).table
    assert table.header[2:4] == ("objective at the end in tuning", "settings that finish")
    assert [row[3] for row in table.rows] == ["16 of 16"] * 2
