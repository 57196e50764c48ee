"""When a machine counts as busy, and what is said then."""

from dataclasses import replace

import numpy as np
import pytest

from benchfw.claims.read import read_claim
from benchfw.provenance import Burst, Environment, Machine, Noise
from benchfw.records import Budget, Ending
from benchfw.report.claims import describe_claims
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.phrases import caveat_sentences
from benchfw.summary.compare import compare_runs
from benchfw.summary.noise import allow_for_noise, cpu_slowdown, describe_noise, shift, slowdown
from benchfw.summary.quantities import Sample
from benchfw.summary.summarize import summarize


def bursts(*factors, cpu=1.0):
    return tuple(Burst(float(k), 0.001 * each, 0.001, 0.001 * cpu) for k, each in enumerate(factors))


def on(run, noise=Noise(), load=0.0, **environment):  # noqa: B008 - frozen
    machine = Machine(cores=2, load=load)
    return replace(run, noise=noise, environment=Environment(machine=machine, **environment))


def test_a_quiet_machine_is_not_mentioned(run):
    noise = Noise(bursts(1.01, 1.02, 1.5, 1.01, 1.03), others=0.1)  # one burst was disturbed
    assert describe_noise(on(run, noise)) == ""
    assert describe_noise(on(run, load=1.9)) == ""
    assert describe_noise(on(run, Noise(bursts(3.0)))) == ""  # a few milliseconds say little
    assert describe_noise(on(run, Noise(bursts(2.0, 2.0)), clock="cpu")) == ""


def timed(make, name, seconds, cpu):
    """Five runs whose times the machine stretches by chance, and whose CPU seconds it does not."""
    found = []
    factors = ((1.0, 0.97), (1.9, 1.0), (1.2, 1.01), (2.0, 1.03), (1.4, 0.99))
    for r, (slow, wobble) in enumerate(factors):
        pace = wobble if name == "gd" else 1 / wobble
        records = make.curve("gap", [9, 0.5], cost=100 * pace, seconds=seconds * slow)
        if cpu is not None:
            records = [each._replace(cpu_seconds=cpu * pace * each.iteration) for each in records]
        found.append(make.result("optimizer", "p", name, r, records, target={"gap": 1.0}))
    return found


def test_on_a_busy_machine_cpu_seconds_decide_where_all_methods_of_one_thread_have_them(make, run):
    results = timed(make, "gd", 3.0, 2.0) + timed(make, "svrg", 2.0, 1.0)
    busy = on(run, Noise(bursts(2.0, 2.1, 2.2)))
    (comparison,) = summarize(busy, results).comparisons
    assert "In CPU time, svrg is ahead of gd: 2.0 [1.8, 2.2] times less" in verdict(comparison)
    decided = {quantity for _, quantity in comparison.decisions}
    assert decided == {"cost_to_target", "cpu_seconds_to_target"}
    for other in (
        on(run, Noise(bursts(1.0, 1.0))),
        replace(busy, environment=replace(busy.environment, threads=2)),
    ):
        (comparison,) = summarize(other, results).comparisons
        assert "CPU" not in verdict(comparison)
    without = timed(make, "gd", 3.0, 2.0) + timed(make, "svrg", 2.0, None)
    (comparison,) = summarize(busy, without).comparisons
    assert "CPU" not in verdict(comparison)


@pytest.mark.parametrize(("unit", "decides"), [(1.0, "In time"), (1e-3, "In CPU time")])
def test_a_method_waits_if_its_time_is_longer_than_what_others_take_from_a_run_of_a_moment(
    make, run, unit, decides
):
    results = timed(make, "gd", 20 * unit, 1.0 * unit) + timed(make, "svrg", 1.0 * unit, 0.5 * unit)
    (comparison,) = summarize(on(run, Noise(bursts(2.0, 2.1, 2.2))), results).comparisons
    assert f"{decides}, svrg is ahead of gd" in verdict(comparison)


def test_cpu_seconds_that_a_slow_core_stretches_have_wider_intervals_too(make, run):
    results = timed(make, "gd", 3.0, 2.0) + timed(make, "svrg", 2.0, 1.0)
    ratios = []
    for stretched in (1.0, 1.5):
        (comparison,) = summarize(on(run, Noise(bursts(2.0, 2.1, 2.2, cpu=stretched))), results).comparisons
        assert comparison.by_cpu
        (found,) = (row for row in comparison.rows if row.ratio and row.quantity == "cpu_seconds_to_target")
        assert found.cell.method == "svrg"
        ratios.append(found.ratio)
    sure, unsure = ratios
    assert unsure.estimate == pytest.approx(sure.estimate)
    assert (unsure.low, unsure.high) == pytest.approx((sure.low / 1.5, sure.high * 1.5))


def test_cpu_seconds_that_are_stretched_like_times_do_not_replace_them(make, run):
    results = timed(make, "gd", 3.0, 2.0) + timed(make, "svrg", 2.0, 1.0)
    (comparison,) = summarize(on(run, Noise(bursts(2.0, 2.1, 2.2, cpu=2.05))), results).comparisons
    assert not comparison.by_cpu
    assert "CPU" not in verdict(comparison)


def on_device(make, name, seconds, cpu):
    """Five runs on a GPU, in which the host worked for so many CPU seconds, if that is known."""
    return [
        make.result(
            "optimizer", "p", name, r,
            [
                each._replace(cpu_seconds=None if cpu is None else cpu * each.iteration)
                for each in make.curve("gap", [9, 0.5], seconds=seconds)
            ],
            target={"gap": 1.0}, backend="cupy", device="GPU",
        )
        for r in range(5)
    ]  # fmt: skip


def test_on_a_device_only_the_hosts_part_of_a_time_may_be_too_long(make, run):
    slow = on(run, Noise(bursts(2.0, 2.0, cpu=2.0)))  # half as fast
    shared = on(run, Noise(bursts(2.0, 2.0)))  # as fast, and has half of the time
    for busy, cpu, ends in (
        (slow, 1.0, (3.5 / 10, 4 / 9.5)),
        (shared, 1.0, (3 / 10, 4 / 9)),
        (shared, 4.0, (2 / 10, 4 / 6)),  # never less than half of the time
        (shared, None, (2 / 10, 4 / 5)),
    ):
        results = on_device(make, "gd", 10.0, cpu) + on_device(make, "svrg", 4.0, cpu)
        (comparison,) = summarize(busy, results).comparisons
        (ratio,) = (
            row.ratio
            for row in comparison.rows
            if (row.cell.method, row.quantity) == ("svrg", "seconds_to_target")
        )
        assert (ratio.low, ratio.estimate, ratio.high) == pytest.approx((ends[0], 0.4, ends[1]))
        assert not any("cpu" in row.quantity for row in comparison.rows)
        assert "CPU" not in verdict(comparison)


def test_times_on_a_device_allow_for_every_delay_that_a_busy_host_causes():
    rng = np.random.default_rng(8)
    shares = []
    for _ in range(500):
        host, device = rng.lognormal(0, 1, 20), rng.lognormal(rng.normal(0, 2), 1, 20)
        reads = rng.random(20) < 0.1
        by = rng.uniform(1.0, 4.0)
        cpu_by = rng.uniform(1.0, by)

        def take(pace, cpu_pace, host=host, device=device, reads=reads):
            """Return the time of launches, some of whose results the host waits for in a loop."""
            now = free = used = 0.0
            for launch, work, read in zip(host, device, reads, strict=True):
                now, used = now + pace * launch, used + cpu_pace * launch
                free = max(free, now) + work
                if read:
                    now, used = free, used + free - now
            return max(now, free), used

        quiet, (seconds, used) = take(1.0, 1.0)[0], take(by, cpu_by)
        values = {"seconds_to_target": {0: seconds}, "cpu_seconds_to_target": {0: used}}
        sample = allow_for_noise(Sample("optimizer", values, on_device=True), by, cpu_by)
        ((low, high),) = sample.find_brackets("seconds_to_target").values()
        assert low <= quiet * (1 + 1e-12)
        assert quiet <= high * (1 + 1e-12)
        shares.append(low / high)
    assert max(shares) > 0.95  # where the device is the limit
    assert min(shares) < 0.3  # where the host is


def test_on_a_busy_machine_estimators_are_ranked_by_cpu_seconds(make, run):
    results = [
        make.result(
            "estimator",
            "p",
            name,
            r,
            [
                each._replace(cpu_seconds=each.seconds * share)
                for each in make.draws(1.0 + 0.01 * r, seconds=1.0 + 0.3 * (r % 2))
            ],
        )
        for name, share in (("a", 0.9), ("b", 0.3))
        for r in range(5)
    ]
    (comparison,) = summarize(on(run, Noise(bursts(2.0, 2.1, 2.2))), results).comparisons
    assert comparison.product == "mse_x_cpu_seconds"
    assert verdict(comparison).startswith("The method b has a mean squared error x CPU time 3")
    shown = {
        row.cell.method: row.interval.estimate
        for row in comparison.rows
        if row.quantity == "relative_efficiency"
    }
    assert shown == pytest.approx({"a": 1, "b": 3})


def cut_short(make, name, pace, ending=Ending.SECONDS, seconds=6.0, steps=None):
    """Six runs of one and the same method, of which the machine leaves so many seconds to a step."""
    count = int(seconds / pace) if steps is None else steps
    return [
        make.result(
            "optimizer", "p", name, r,
            make.curve("loss", list(1 + (9 + 0.1 * r) * np.exp(-np.arange(count + 1) / 3)), seconds=pace),
            ending=ending,
        )
        for r in range(6)
    ]  # fmt: skip


@pytest.mark.parametrize(("slow", "shown"), [(1.0, True), (1.2, True), (2.0, False)])
def test_ends_after_so_many_seconds_allow_for_the_steps_that_a_busy_machine_took_away(make, run, slow, shown):
    results = cut_short(make, "gd", 1.5) + cut_short(make, "again", 1.0)
    (comparison,) = summarize(on(run, Noise(bursts(slow, slow))), results).comparisons
    assert ("again has loss" in verdict(comparison)) is shown
    assert ("more often than gd" in verdict(comparison)) is (slow == 1.0)
    (ratio,) = (row.ratio for row in comparison.rows if row.ratio and row.quantity == "loss")
    assert (ratio.high < 1) is shown


@pytest.mark.parametrize(("slow", "word"), [(1.0, "regressed"), (2.0, "within noise")])
def test_runs_that_a_busy_machine_cuts_short_of_the_target_are_no_regression(make, run, slow, word):
    before, after = (
        [
            replace(each, trial=replace(each.trial, target={"loss": 2.5}, budget=Budget(seconds=6.0)))
            for each in cut_short(make, "gd", pace)
        ]
        for pace in (1.0, 1.5)
    )
    quiet, busy = (replace(on(run, Noise(bursts(*[by] * 2))), id=k) for k, by in enumerate((1.0, slow)))
    found = compare_runs((quiet, before), (busy, after), 0.05)
    words = {row.quantity: row.change.word for row in found.rows}
    assert words["runs_short_of_target"] == word


@pytest.mark.parametrize(
    ("slow", "ending", "standings"),
    [
        (1.0, Ending.SECONDS, ("holds", "refuted", "holds")),
        (2.0, Ending.SECONDS, ("undecided", "undecided", "undecided")),
        (2.0, Ending.ITERATIONS, ("holds", "refuted", "holds")),
    ],
)
def test_a_claim_does_not_count_runs_that_a_busy_machine_cut_short(make, run, slow, ending, standings):
    results = [
        replace(each, trial=replace(each.trial, target={"loss": 2.5}))
        for each in cut_short(make, "gd", 1.5, ending)
    ]
    claims = [
        {"table": claim.table, "registered": "", "hash": claim.digest}
        for reaches in (False, True, {"below": 0.7})
        for claim in [read_claim({"says": "so", "method": "gd", "reaches": reaches}, "claim")]
    ]
    found = summarize(on(run, Noise(bursts(slow, slow)), claims=tuple(claims)), results).claims
    assert tuple(str(each.decided.standing) for each in found) == standings
    if "undecided" in standings:
        assert [each.notes for each in describe_claims(found)] == [
            ("6 runs ran out of time on a busy machine, and may reach the target on a quiet one",)
        ] * 3


def test_ends_after_so_many_iterations_need_no_allowance(make, run):
    results = [
        *cut_short(make, "gd", 1.5, Ending.ITERATIONS, steps=4),
        *cut_short(make, "again", 1.0, Ending.ITERATIONS, steps=6),
    ]
    found = [
        next(
            row.ratio
            for row in summarize(on(run, Noise(bursts(slow, slow))), results).comparisons[0].rows
            if row.ratio and row.quantity == "loss"
        )
        for slow in (1.0, 2.0)
    ]
    assert found[0] == found[1]


def test_a_claim_about_the_end_of_another_method_allows_for_when_that_is(make, run):
    results = [
        *cut_short(make, "gd", 1.5, Ending.BY_ITSELF, steps=4),
        *cut_short(make, "again", 1.0, Ending.ITERATIONS, steps=8),
    ]
    table = {"says": "so", "method": "again", "than": "gd", "quantity": "loss when the reference is done"}
    claim = read_claim({**table, "ratio": {"below": 1}}, "claim")
    claims = ({"table": claim.table, "registered": "", "hash": claim.digest},)
    standings = [
        summarize(on(run, Noise(bursts(slow, slow)), claims=claims), results).claims[0].decided.standing
        for slow in (1.0, 2.0)
    ]
    assert standings == ["holds", "undecided"]


def test_a_run_of_a_moment_has_no_slow_down_in_cpu_seconds_either(make, run):
    results = timed(make, "gd", 3.0, 2.0) + timed(make, "svrg", 2.0, 1.0)
    moment = on(run, Noise(bursts(3.0, cpu=3.0)))
    short, without = (summarize(each, results).comparisons[0].rows for each in (moment, on(run)))
    assert short == without


def test_a_comparison_says_what_it_allows_for_beside_the_other_run(run):
    slow = on(run, Noise(tuple(Burst(float(k), 0.0022, 0.002, 0.0021) for k in range(3))))
    quick = on(run, Noise(bursts(1.0, 1.0)))
    assert describe_noise(slow) == ""
    assert describe_noise(slow, quick) == (
        "the machine was busy: a loop of known work took 2.2 times as long as at its fastest in either run. "
        "Intervals of times allow for a factor of 2.2, those of CPU seconds for 2.1; individual trials may "
        "have been slowed more"
    )


def test_a_busy_machine_is_said_on_the_first_screen(run):
    noise = Noise(bursts(2.0, 2.1, 2.2), others=1.7)
    busy = on(run, noise)
    assert describe_noise(busy) == (
        "the machine was busy: a loop of known work took 2.1 times as long as at its fastest, and other "
        "processes kept 1.7 of 2 cores busy. Intervals of times allow for a factor of 2.1, those of CPU "
        "seconds for 1.0; individual trials may have been slowed more"
    )
    gpu = {"numpy": {"device": "Example 3000"}, "cupy": {"device": "GPU"}}
    assert "a factor of 2 (on a device, in what the host does); individual trials" in describe_noise(
        on(run, Noise(bursts(2, 2)), backends=gpu)
    )
    assert "those of CPU seconds for 1.7" in describe_noise(on(run, Noise(bursts(2, 2, cpu=1.7))))
    assert caveat_sentences(summarize(busy, [])) == [describe_noise(busy)]
    crowded = on(run, Noise(bursts(1.0, 1.0), others=0.5), jobs=2)
    assert "kept 0.5 of 2 cores busy" in describe_noise(crowded)
    assert describe_noise(on(run, load=8.0)) == (
        "the machine was busy: its load was 8 on 2 cores at the start. Times may include that work; CPU "
        "seconds hardly do"
    )


@pytest.mark.parametrize(
    ("factors", "words"), [((1, 1, 1, 1.2, 1.2, 1.2), "slower"), ((1.3, 1.3, 1, 1), "faster")]
)
def test_a_shift_within_a_run_is_said(run, factors, words):
    assert f"times {words} from the first half of the run to the second" in describe_noise(
        on(run, Noise(bursts(*factors)))
    )


def test_slow_downs_are_relative_to_the_fastest_turn_that_is_known():
    noise = Noise(bursts(2.0, 3.0, 4.0, cpu=1.2))
    assert slowdown(noise) == pytest.approx(3.0)
    assert slowdown(noise, quiet=0.0005) == pytest.approx(6.0)
    assert slowdown(noise, quiet=0.002) == pytest.approx(3.0)  # its own is faster
    assert cpu_slowdown(noise, 0.001) == pytest.approx(1.2)
    assert shift(noise) == 1.0  # too few
    assert (slowdown(Noise()), cpu_slowdown(Noise(), 0.001), shift(Noise())) == (1.0, 1.0, 1.0)
