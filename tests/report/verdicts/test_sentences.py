from __future__ import annotations

from benchfw.records import Record, Status
from benchfw.report.verdicts import verdict
from benchfw.summary.summarize import summarize

WOBBLE = (0.97, 1.0, 1.01, 1.03, 0.99)


def said(run, results):
    return " | ".join(map(verdict, summarize(run, results).comparisons))


def optimizer(make, name, cost, *, reach=True, seconds=1.0, only=5):
    """Five runs that meet the target at iteration 1, whose cost is about `cost`."""
    return [
        make.result(
            "optimizer",
            "p",
            name,
            r,
            make.curve(
                "gap", [9, 0.5 if reach and r < only else 5], cost=cost * wobble, seconds=seconds * wobble
            ),
            target={"gap": 1e-0},
        )
        for r, wobble in enumerate(WOBBLE[r] ** (-1 if name == "gd" else 1) for r in range(5))
    ]


def test_a_better_method_is_named_with_how_much_and_who_never_arrives(make, run):
    results = (
        optimizer(make, "gd", 230)
        + optimizer(make, "svrg", 100, seconds=0.5)
        + optimizer(make, "adam", 50, reach=False)
        + optimizer(make, "saga", 500, only=3)
    )
    assert said(run, results) == (
        "svrg reaches gap 1 with 2.3 [2.2, 2.4] times fewer gradients than gd "
        "and in 2.0 [1.9, 2.1] times less time (5 paired runs); adam never does; saga does in 3 of 5 runs."
    )


def test_fewer_gradients_may_take_more_time(make, run):
    results = optimizer(make, "gd", 230) + optimizer(make, "svrg", 100, seconds=3)
    assert "than gd, but in 3.0 [2.8, 3.2] times more time (5 paired runs)." in said(run, results)


def test_another_method_may_be_first_in_time(make, run):
    results = (
        optimizer(make, "gd", 200)
        + optimizer(make, "svrg", 100)
        + optimizer(make, "lbfgs", 150, seconds=0.25)
    )
    assert said(run, results).endswith(
        "and in about the same time (5 paired runs). "
        "In time lbfgs is ahead: 4.0 [3.8, 4.2] times less than gd (5 paired runs)."
    )


def test_no_difference_is_said_when_that_was_seen(make, run):
    results = optimizer(make, "gd", 100) + optimizer(make, "svrg", 100)
    assert said(run, results) == (
        "No difference beyond noise (5 paired runs) in gradients to gap 1 between gd and the next best, svrg."
    )


def test_a_reference_that_is_first_is_said_to_be(make, run):
    results = optimizer(make, "gd", 100) + optimizer(make, "svrg", 300)
    assert said(run, results) == (
        "No method reaches gap 1 with fewer gradients than gd; "
        "the next, svrg, needs 3.0 [2.8, 3.2] times more gradients (5 paired runs)."
    )


def test_a_reference_that_never_arrives(make, run):
    results = optimizer(make, "gd", 100, reach=False) + optimizer(make, "svrg", 300)
    assert said(run, results) == (
        "Only svrg reaches gap 1 with 300 [291, 309] gradients (5 runs); gd never does."
    )


def test_nobody_arrives(make, run):
    results = optimizer(make, "gd", 100, reach=False) + optimizer(make, "svrg", 300, reach=False)
    assert said(run, results) == (
        "No method reaches gap 1 in more than half of its runs; the closest is gd with 5."
    )


def test_a_method_alone_is_described(make, run):
    assert said(run, optimizer(make, "gd", 100)) == (
        "gd reaches gap 1 with 100 [97, 103] gradients (5 runs); there is no other method to compare it with."
    )


def test_one_run_has_no_interval_and_says_so(make, run):
    results = optimizer(make, "gd", 200)[:1] + optimizer(make, "svrg", 100)[:1]
    text = said(run, results)
    assert text.startswith("svrg reaches gap 1 with 2.1 times fewer gradients than gd")
    assert text.endswith("(1 run, so no interval).")


def test_an_automatic_target_says_where_it_comes_from(make, run):
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [9, 1.17e-5]))]
    assert "reaches gap 1.2e-05 (where gd ends) with" in said(run, results)


def test_nothing_finished(make, run):
    results = [make.result("optimizer", "p", "gd", r, [], status=Status.FAILED) for r in range(2)]
    assert said(run, results) == "No trial finished: 2 trials, none to the end."


def test_estimators_trade_variance_for_time(make, run):
    results = []
    for name, variance, seconds, bias in (
        ("mb size=16", 3.9, 1.0, 0.0),
        ("mb size=64", 1, 1.4, 0.5),
        ("exact", 0, 9, 0),
    ):
        for r, wobble in enumerate(WOBBLE):
            noisy = bias + 0.1 * (wobble - 1)
            records = make.draws(variance * (wobble if variance == 1 else 1), seconds=seconds, bias=noisy)
            results.append(make.result("estimator", "p", name, r, records))
    assert said(run, results) == (
        "mb size=64 has 3.9 [3.8, 4.0] times less variance than mb size=16 "
        "and takes 1.4 times more time a draw: variance x time 2.8 [2.7, 2.9] times smaller (5 paired runs). "
        "exact never varied. "
        "Off in the mean: mb size=64 by at least 0.497. No bias beyond noise in the others (5 runs)."
    )


def test_estimators_that_do_not_differ(make, run):
    results = [
        make.result("estimator", "p", name, r, make.draws(w if name == "a" else 1 / w, bias=w - 1))
        for name in "ab"
        for r, w in enumerate(WOBBLE)
    ]
    assert said(run, results) == (
        "No difference beyond noise (5 paired runs) in variance x time between a and b. "
        "No bias beyond noise (5 runs)."
    )


def test_kernels_say_time_and_speed_up(make, run):
    results = [
        make.result("kernel", "", "gram", r, [Record("seconds_per_call", 0, 0, 0, s * w)], backend=b)
        for b, s in (("numpy", 0.0124), ("cupy", 0.00124))
        for r, w in enumerate(WOBBLE)
    ]
    assert said(run, results) == (
        "gram takes 12.4 ms [12.1, 12.7] a call on numpy. gram on cupy is 10 times faster than on numpy."
    )
