"""Claims in words, and where reports show them."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.claims import Part, Standing, decide_claims
from benchfw.analysis.estimates import Largest, Measured, Runs, Share
from benchfw.analysis.intervals import Interval
from benchfw.claims import Looks, Range, Subject
from benchfw.claims.read import read_claim
from benchfw.provenance import Changes
from benchfw.report.cell import render_cell
from benchfw.report.claims import count_claims, describe_claims, warn_of_claims
from benchfw.report.markdown import markdown
from benchfw.report.page import save_records, write_report
from benchfw.report.terminal import plain_lines, print_summary
from benchfw.summary.claims.reader import ClaimResult
from benchfw.summary.claims.tables import CLAIM_COLUMNS, claim_rows
from benchfw.summary.raised import Raised
from benchfw.summary.summarize import summarize
from benchfw.summary.times import TimeUnit

HOSTILE = "<script>alert(1)</script> \x1b[31m[bold]*x*[/bold] | `y`\r\nnext"
NUMBER = r"-?[\d.]+(?:e[-+]\d+)?"
SPREAD = np.linspace(-0.05, 0.05, 10)
TARGET, COST = {"quantity": "seconds to target"}, {"quantity": "cost to target"}
PAIR = {"method": "a", "than": "b"}
MILLISECONDS = {"seconds_to_target": TimeUnit(1e-3, "ms")}

EVERY = "in every run, shown by an interval above one half"
NO_RUN = "in no run, shown by an interval below one half"


def cut_short(ratio, never, unknown=0):
    """Return ten ratios that are known from below, or from above where `never` is negative, or not at all."""
    logs = np.full(10, math.log(ratio))
    low, high = logs.copy(), logs.copy()
    if never > 0:
        high[:never] = math.inf
    else:
        low[:-never] = -math.inf
    low[:unknown] = -math.inf
    return Runs(low, high, logs)


def around(middle, spread=1.0, *, logs=True):
    """Ten runs around a number; the spread is relative to it, if they are logarithms."""
    values = math.log(middle) + spread * SPREAD if logs else middle + spread * SPREAD
    return Runs(values, values, values, logs=logs)


def decide(table, *estimates, subjects=(), early=0, quick=False):
    """Return the words for a claim with a part for each estimate."""
    claim = read_claim({"says": "so", **table}, "here")
    named = subjects or [Subject(claim.names, "p", cost_unit="gradients", metric="gap")] * len(estimates)
    unbiased = {"disproof": Range(0.0, 0.0), "denied": not claim.unbiased} if claim.test == "unbiased" else {}
    parts = [
        Part("", claim.inside, each, subject=subject, **unbiased)
        for each, subject in zip(estimates, named, strict=True)
    ]
    (decided,) = decide_claims([parts])
    return ClaimResult(claim, decided, "2026-01-01", early, 20, quick, units=MILLISECONDS)


def words(*given, **more):
    (text,) = describe_claims([decide(*given, **more)])
    return text


@pytest.mark.parametrize(
    ("table", "estimate", "standing", "found", "claimed"),
    [
        ({**PAIR, **TARGET, "ratio": {"below": 1}}, around(0.5), "holds",
         "the time of a to the target is 0.50 [0.49, 0.52] times that of b", "below 1"),
        ({**PAIR, **TARGET, "ratio": {"below": 0.4}}, around(0.5), "refuted",
         "the time of a to the target is 0.50 [0.49, 0.52] times that of b", "below 0.4"),
        ({**PAIR, **TARGET, "ratio": {"within": [0.9, 1.1]}}, around(1.09), "undecided",
         "the time of a to the target is 1.09 [1.06, 1.12] times that of b", "between 0.9 and 1.1"),
        ({**PAIR, **TARGET, "ratio": {"below": 1}}, around(1 - 1e-10, 0), "holds",
         "the time of a to the target is 1.0\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁸ % below that of b",
         "below 1"),
        ({**PAIR, "quantity": "gap at the end", "difference": {"above": -0.1}}, around(0.02, logs=False),
         "holds", "the gap of a at the end minus that of b is 0.0200 [0.0024, 0.0376]", "above -0.1"),
        ({"method": "a", **TARGET, "value": {"below": 0.01}}, around(0.003), "holds",
         "the time of a to the target is 3.00 ms [2.94, 3.06]", "below 10 ms"),
        ({"method": "a", **COST, "value": {"above": 200}}, around(83.0), "refuted",
         "the cost of a to the target is 83.0 gradients [81.5, 84.6]", "above 200 gradients"),
        ({"order": ["a", "b"], **COST}, around(1.5), "refuted",
         "the cost of a to the target is 1.50 [1.47, 1.53] times that of b", "a before b"),
        ({"order": ["a", "b"], "quantity": "loss at the end"}, around(2.0, logs=False), "refuted",
         "the loss of a at the end minus that of b is 2.00 [1.98, 2.02]", "a before b"),
        ({**PAIR, "quantity": "loss when the reference is done", "difference": {"below": 0}},
         around(2.0, logs=False), "refuted",
         "the loss of a when the reference is done minus that of b is 2.00 [1.98, 2.02]", "below 0"),
        ({"order": ["a", "b"], **COST}, cut_short(1.5, never=10), "refuted",
         "the cost of a to the target is at least 1.5 times that of b", "a before b"),
        ({"order": ["b", "a"], **COST}, cut_short(1 / 1.5, never=-10), "holds",
         "the cost of b to the target is at most 0.67 times that of a", "b before a"),
        ({"order": ["a", "b"], **COST}, cut_short(1.5, never=10, unknown=10), "undecided",
         "the cost of a to the target is not known relative to that of b", "a before b"),
        ({"method": "a", "rate": {"within": [-1.2, -0.8]}}, around(-1.0, logs=False), "holds",
         "the gap of a goes like iterations to the power of -1.00 [-1.02, -0.98]", "between -1.2 and -0.8"),
        ({"method": "a", "law": "linear", "rate": {"below": 0.95}}, around(0.98, 0.1),
         "refuted", "an iteration multiplies the gap of a by 0.980 [0.978, 0.982]", "below 0.95"),
        ({"method": "a", "reaches": True}, Share(10, 10, every=True), "holds",
         "a reaches the target in 10 of 10 runs (a share of 1.00 [0.74, 1.00])", EVERY),
        ({"method": "a", "reaches": True}, Share(9, 10, every=True), "refuted",
         "a reaches the target in 9 of 10 runs", EVERY),
        ({"method": "a", "reaches": False}, Share(0, 10, every=True, wanted=False), "holds",
         "a reaches the target in 0 of 10 runs (a share of 0 [0, 0.259])", NO_RUN),
        ({"method": "a", "reaches": {"above": 0.8}}, Share(8, 10), "undecided",
         "a reaches the target in 8 of 10 runs (a share of 0.800 [0.493, 0.964])",
         "in a share of runs above 0.8"),
        ({"method": "a", "unbiased": True}, Measured(lambda _: Interval(0.01, -0.0999, 0.02, 9), 9), "holds",
         "the bias of a is 0.0100 [-0.0999, 0.0200] standard deviations of a draw",
         "0, shown by an interval within ±0.1"),
        ({"method": "a", "unbiased": True}, Measured(lambda _: Interval(math.inf, math.inf, math.inf, 9), 9),
         "refuted", "the bias of a is not 0, and its draws do not vary",
         "0, shown by an interval within ±0.1"),
        ({"method": "a", "unbiased": False}, Measured(lambda _: Interval(0.3, 0.0004, 0.6, 9), 9), "holds",
         "the bias of a is 0.3000 [0.0004, 0.6000] standard deviations of a draw", "not 0"),
    ],
)  # fmt: skip
def test_each_kind_of_claim_says_what_was_found_and_what_was_claimed(
    table, estimate, standing, found, claimed
):
    said = words(table, estimate)
    assert said.standing == standing
    assert _numbers_aside(said.found) == _numbers_aside(found)
    assert said.claimed == claimed


def _numbers_aside(text):
    return re.sub(NUMBER, "#", text)


def test_a_bound_says_how_near_the_curves_come_and_how_many_runs_break_it():
    def about(*looks):
        return [Subject(("a",), "p", metric="gap", looks=Looks(*looks))]

    kept = words({"method": "a", "bound": True}, Share(9, 9, every=True), subjects=about(0, 40, 0.99996))
    assert kept.found.startswith(
        "the gap of a is at most 0.99996 times its bound at 40 looks, in 9 of 9 runs ("
    )
    tight = words({"method": "a", "bound": True}, Share(9, 9, every=True), subjects=about(0, 40, 1.0))
    assert tight.found.startswith("the gap of a is at most its bound at 40 looks, in 9 of 9 runs (")
    broken = words({"method": "a", "bound": True}, Share(7, 9, every=True), subjects=about(3, 40, 1.25))
    assert broken.found == (
        "the gap of a is above its bound at 3 of 40 looks in 2 of 9 runs, at most 1.3 times it"
    )
    assert broken.claimed == "at most the bound in every run"
    mean = Largest((around(0.5, logs=False), around(0.7, logs=False)))
    said = words({"method": "a", "bound": "mean"}, mean, subjects=about(0, 2, 0.7))
    assert re.fullmatch(
        rf"the gap of a is 0.70 \[{NUMBER}, {NUMBER}\] times its bound at the highest of 2 looks, in the "
        r"mean of 10 runs",
        said.found,
    )
    assert said.claimed == "at most the bound in the mean of the runs"


def read_power(text):
    """Return the number that is written as 1.2 × 10⁻⁵, or plainly."""
    mantissa, _, power = text.partition("\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10")
    return float(f"{mantissa}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")


@pytest.mark.parametrize("limit", [1.0, 0.5, 2 / 3, 1e-5, 1234.5])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_printed_interval_never_touches_the_end_that_it_was_decided_by(limit, side):
    rng = np.random.default_rng(5)
    for gap in 10.0 ** rng.uniform(-7, 0, 40):
        middle = limit * math.exp(side * gap)
        said = words({**PAIR, **TARGET, "ratio": {"below": limit}}, around(middle, gap))
        assert said.standing == ("holds" if side < 0 else "refuted")
        value, rest = said.found.split(" is ")[1].split(" times ")[0].split(" [")
        shown = (value, *rest.rstrip("]").split(", "))
        numbers = [read_power(each) for each in shown]
        assert all((number > limit) == (side > 0) and number != limit for number in numbers), said.found


def test_of_several_numbers_the_nearest_is_shown_and_where_it_is():
    ratio = {**PAIR, **TARGET, "ratio": {"below": 1}}
    here, there, far = (Subject(("a", "b"), name) for name in ("here", "there", "far away"))
    assert words(ratio, around(0.5), around(0.8), subjects=[here, there]).found.startswith(
        "on both problems; closest on there: the time of a to the target is 0.8"
    )
    three = [here, there, far]
    assert words(ratio, around(0.5), around(2.0), around(0.5), subjects=three).found.startswith(
        "on there, 1 of 3 problems: the time of a to the target is 2.0"
    )
    assert words(ratio, around(3.0), around(2.0), around(0.5), subjects=three).found.startswith(
        "on here and there, 2 of 3 problems; most clearly on here: the time of a to the target is 3.0"
    )
    assert words(ratio, around(1.0), around(0.5), around(0.5), subjects=three).found.startswith(
        "on here, 1 of 3 problems: the time of a to the target is 1.00"
    )
    assert words(ratio, *[around(0.5)] * 3, subjects=three).found.startswith("on all 3 problems: the time")
    backends = [Subject(("a", "b"), "p", name) for name in ("cupy", "numpy")]
    assert words(ratio, around(0.5), around(0.8), subjects=backends).found.startswith(
        "on both backends; closest on numpy: "
    )
    pairs = [Subject(("a", "b"), "p"), Subject(("b", "c"), "p")]
    order = {"order": ["a", "b", "c"], **COST}
    said = words(order, around(0.5), around(2.0), subjects=pairs)
    assert said.found.startswith("for 1 of 2 pairs: the cost of b to the target is 2.0")
    assert said.claimed == "a before b before c"
    mixed = [replace(pairs[0], problem="q"), pairs[1]]
    assert words(order, around(0.5), around(0.8), subjects=mixed).found.startswith(
        "in both cases; closest in"
    )


def test_an_end_that_a_range_does_not_have_is_not_near():
    """On q, b arrives in every run, and 2.2 is nearer to 2 than at least 5."""
    low, high = np.full(10, math.log(5.0)), np.full(10, math.inf)
    never = Runs(low, high, low)
    subjects = [Subject(("a", "b"), name) for name in "pq"]
    found = words({**PAIR, **COST, "ratio": {"above": 2}}, never, around(2.2), subjects=subjects)
    assert found.found.startswith("on both problems; closest on q: the cost of a to the target is 2.20")


def test_what_is_known_to_be_less_has_no_ratio_beside_it():
    low, high = np.full(10, -math.inf), np.full(10, -5e-324)
    less = words({**PAIR, **COST, "ratio": {"below": 1}}, Runs(low, high, low))
    assert (less.standing, less.found) == ("holds", "the cost of a to the target is less than that of b")


def test_a_claim_says_in_how_many_trials_its_error_fell_although_the_objective_did_not():
    found = decide({**PAIR, **COST, "ratio": {"below": 1}}, around(0.5))
    raised = Raised(("loss",), gain=False, arrived=False)
    for number, shown in {3: "3", 20: "all"}.items():
        (text,) = describe_claims([replace(found, raised={raised: number})])
        assert text.details.endswith(
            f"claimed: below 1; in {shown} of its 20 trials loss fell although the objective was never below "
            "its start."
        )
    untested = replace(
        found, raised={raised: 3}, decided=replace(found.decided, standing=Standing.NOT_TESTABLE)
    )
    assert not any("loss fell" in each for each in describe_claims([untested])[0].notes)


def test_a_claim_says_how_many_of_its_trials_failed():
    found = replace(decide({**PAIR, **COST, "ratio": {"below": 1}}, around(0.5)), failed=10)
    (text,) = describe_claims([found])
    assert text.details.endswith("claimed: below 1; 10 of its 20 trials failed.")
    (row,) = claim_rows([replace(found, quick=True)])
    assert dict(zip(CLAIM_COLUMNS, row, strict=True)).items() >= {"failed": 10, "quick": True}.items()


def test_a_mean_over_problems_says_over_how_many():
    subject = [Subject(("a", "b"), problems=3)]
    table = {**PAIR, "across": "problems"}
    ratio = words({**table, **TARGET, "ratio": {"below": 1}}, around(0.5), subjects=subject)
    assert ratio.found.endswith(" times that of b, in the geometric mean over 3 problems")
    difference = {**table, "quantity": "gap at the end", "difference": {"below": 1}}
    said = words(difference, around(0.5, logs=False), subjects=subject)
    assert re.search(r"\], in the mean over 3 problems$", said.found)


def test_what_never_arrives_has_one_end():
    low, never = np.log(np.linspace(3, 4, 10)), np.full(10, np.inf)
    said = words({**PAIR, **TARGET, "ratio": {"above": 2}}, Runs(low, never, never))
    assert said.standing == "holds"
    assert re.fullmatch(r"the time of a to the target is at least 3\.\d times that of b", said.found)
    said = words({**PAIR, **TARGET, "ratio": {"below": 0.5}}, Runs(-never, -low, -never))
    assert re.fullmatch(r"the time of a to the target is at most 0\.3\d times that of b", said.found)


def test_a_value_that_is_infinite_in_every_run_is_called_infinite():
    never = np.full(10, np.inf)
    table = {"method": "a", "quantity": "gap at the end", "value": {"above": 3}}
    assert words(table, Runs(never, never, never)).found == "the gap of a at the end is infinite"
    table = {**PAIR, **COST, "ratio": {"above": 3}}
    said = words(table, Runs(never, never, never))
    assert said.found == "the cost of a to the target is infinitely many times that of b"


def test_an_undecided_claim_says_how_many_repetitions_would_decide_it():
    said = words({**PAIR, **TARGET, "ratio": {"below": 0.505}}, around(0.5))
    (note,) = said.notes
    found = re.fullmatch(r"about (\d+) repetitions would decide it, 10 ran \(--repetitions (\d+)\)", note)
    assert found[1] == found[2]
    assert int(found[1]) > 10
    assert said.details.endswith(f"claimed: below 0.505; {note}.")
    blind = Measured(lambda _: Interval(1.0, 0.5, 1.5, 4), 4)
    (note,) = words({"method": "a", "quantity": "variance", "value": {"below": 1}}, blind).notes
    assert note == "4 repetitions ran, and how many would decide it cannot be said"


def test_an_undecided_claim_says_what_the_runs_would_show_without_looks_and_noise():
    exact = around(0.5)
    wide = Runs(exact.low - math.log(1.3), exact.high + math.log(1.3), exact.middle)
    said = words({**PAIR, **TARGET, "ratio": {"below": 0.6}}, wide)
    assert said.standing == "undecided"
    assert said.found == "the time of a to the target is 0.50 [0.37, 0.67] times that of b"
    (note,) = said.notes
    assert note == (
        "10 repetitions ran; without what is added for the time between looks or for a busy machine, "
        "it would be 0.50 [0.49, 0.51]"
    )
    (refuted,) = words({**PAIR, **TARGET, "ratio": {"below": 0.45}}, wide).notes
    assert refuted == note
    (open_either_way,) = words({**PAIR, **TARGET, "ratio": {"below": 0.505}}, wide).notes
    assert open_either_way == "10 repetitions ran, and how many would decide it cannot be said"


def test_a_claim_that_was_written_too_late_is_called_not_pre_registered_everywhere():
    table = {**PAIR, **TARGET, "ratio": {"below": 1}}
    late = words(table, around(0.5), early=20)
    assert late.label == "holds, not pre-registered"
    assert late.warnings == ("not pre-registered: it was written after all 20 of its trials had run",)
    some = words(table, around(0.5), early=3)
    assert some.warnings == ("not pre-registered: it was written after 3 of its 20 trials had run",)
    results = [decide(table, around(0.5), early=each) for each in (0, 3, 20)]
    assert warn_of_claims(results) == [
        "2 of these claims are not pre-registered: written after trials that decide them had run"
    ]
    assert words(table, around(0.5)).label == "holds"
    assert warn_of_claims(results[:1]) == []
    untestable = decide({"untestable": "it is algebra"}, early=20)
    assert describe_claims([untestable])[0].label == "not testable"


def test_claims_are_counted_and_a_quick_run_is_called_quick():
    table = {**PAIR, **TARGET, "ratio": {"below": 1}}
    results = [decide(table, around(each), quick=True) for each in (0.5, 0.5, 2.0, 1.0)]
    assert count_claims(results) == "4 claims: 2 hold, 1 is refuted, 1 is undecided"
    assert warn_of_claims(results) == ["this run was quick: its claims are decided at the size of --quick"]
    assert count_claims([]) == ""
    assert warn_of_claims([decide({"untestable": "so"}, quick=True)]) == []


@pytest.fixture
def claiming(make, run):
    """A run with a claim of every standing, with hostile texts, and its results."""
    results = [
        make.result(
            "optimizer",
            "p",
            name,
            each,
            make.curve("gap", [8.0] * (at + 3 * each) + [0.5]),
            target={"gap": 1},
        )
        for name, at in {"slow": 60, "fast": 10, "alike": 61}.items()
        for each in range(6)
    ]
    ratio = {"than": "slow", "quantity": "iterations to target"}
    tables = [
        {"says": "Fast is fast.", "source": HOSTILE, "method": "fast", **ratio, "ratio": {"below": 0.9}},
        {"says": f"{HOSTILE} is slow", "method": "fast", **ratio, "ratio": {"above": 1}},
        {"says": "Both are alike", "method": "alike", **ratio, "ratio": {"below": 1.015}},
        {"says": "Full size", "method": "fast", "reaches": True, "quick": False},
    ]
    claims = tuple(
        {"table": each, "registered": "2026-01-02", "hash": read_claim(each, "").digest} for each in tables
    )
    environment = replace(run.environment, claims=claims, changes=replace(Changes(), quick=True))
    return replace(run, environment=environment), results


def test_every_report_shows_claims_first_and_cannot_be_made_to_do_anything_else(claiming, tmp_path):
    run, results = claiming
    summary = summarize(run, save_records(tmp_path / "7", run, results))
    count = "4 claims: 1 holds, 1 is refuted, 1 is undecided, 1 is not testable"
    page = write_report(summary, run, tmp_path / "7").read_text(encoding="utf-8")
    text, cell = markdown(summary, run), render_cell(summary, run, [])
    lines = "\n".join(plain_lines(summary, 80))
    for shown, verdict in (
        (page, 'id="claims"'),
        (text, "\n- **p"),
        (cell, 'class="verdict"'),
        (lines, "\np, "),
    ):
        assert shown.index(count) < shown.index(verdict)
        assert "<script>alert" not in shown or shown in (text, lines)
        assert "quick: its claims are decided at the size of --quick" in shown
        assert "it is about the full size (quick = false), and this run was quick" in shown
        for mark, word in (("✓", "holds"), ("✗", "refuted"), ("?", "undecided"), ("–", "not testable")):
            assert re.search(rf"{re.escape(mark)}(</span>)? (<b>|\*\*)?{word}", shown), (mark, word)
    assert r"\<script\>alert(1)\</script\> \\x1b[31m[bold]\*x\*[/bold] \| \`y\` " in text
    assert "\x1b" not in lines
    assert max(map(len, lines.splitlines()[:20])) <= 80
    parts = [page.index(f'id="{name}"') for name in ("findings", "claims", "tables", "provenance")]
    assert parts == sorted(parts)
    (legend,) = re.findall(r"\((.* holds, .*)\)</p>", page[: parts[1]])
    assert set(legend.split(", ")) == {"✓ holds", "✗ refuted", "? undecided", "– not testable"}
    assert page.index('href="#findings"') < page.index('href="#claims"')
    for each in summary.claims:
        assert each.claim.digest in page[parts[-1] :]
        assert f"{each.claim.digest} registered 2026-01-02" in text
    assert "2026-01-02" in page[parts[-1] :]
    rows = (tmp_path / "7" / "claims.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("says,source,standing,")
    assert len(rows) >= 5


def test_a_terminal_has_claims_in_colour_and_in_words(claiming, monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    run, results = claiming
    screen = Screen()
    print_summary(summarize(run, results), screen, 80)
    assert "\x1b[32m✓ holds\x1b[0m" in screen.getvalue()
    seen = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert "\x1b" not in seen
    assert seen.index("4 claims: ") < seen.index("✗ refuted: ") < seen.index("p, optimizers: ")
    assert max(map(len, seen.splitlines())) <= 80


def test_a_report_without_claims_does_not_mention_them(realistic, run, tmp_path):
    summary = summarize(run, save_records(tmp_path / "7", run, realistic()))
    page = write_report(summary, run, tmp_path / "7").read_text(encoding="utf-8")
    body = page[page.index("<body") :]
    for shown in (body, markdown(summary, run), render_cell(summary, run, []).split("</style>")[1]):
        assert "claim" not in shown.lower().replace("claimed to be", "").replace("as claimed", "")
    assert not (tmp_path / "7" / "claims.csv").exists()
