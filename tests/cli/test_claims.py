"""Claims of a suite: decided by its run, registered with it, required by --require-claims."""

import csv
import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from benchfw.store.rows import digest_of
from benchfw.store.schema import SEAL_RUN, SELECT_RUN

PLUGIN = Path(__file__).parents[1] / "plugins" / "paces.py"

BASE = """
plugins = ["paces.py"]
repetitions = 10
budget = { iterations = 150 }
quick = { repetitions = 5, budget = { iterations = 150 } }
target = { gap = 1e-3 }
[[problem]]
use = "slope"
[[optimizer]]
use = "shrink"
label = "slow"
[[optimizer]]
use = "shrink"
label = "fast"
pace = 0.3
promise = 0.1
[[optimizer]]
use = "shrink"
label = "wild"
pace = 0.15
noise = 0.5
promise = 0.1
[[optimizer]]
use = "shrink"
label = "stuck"
pace = 0.001
"""

ESTIMATORS = """
[[estimator]]
use = "guess"
label = "right"
[[estimator]]
use = "guess"
label = "off"
bias = 1.0
[[estimator]]
use = "guess"
label = "coarse"
bias = 0.03
scale = 2.0
"""

# what is claimed, of which method, and whether that is true, false, or within noise
KINDS = [
    ("holds", 'method = "fast"; than = "slow"; quantity = "cost to target"; ratio = { below = 0.5 }'),
    ("refuted", 'method = "fast"; than = "slow"; quantity = "cost to target"; ratio = { above = 0.5 }'),
    ("undecided", 'method = "wild"; than = "slow"; quantity = "cost to target"; ratio = { below = 0.8 }'),
    (
        "holds",
        'method = "fast"; than = "slow"; quantity = "cost to target"; difference = { below = -9 }',
    ),
    (
        "refuted",
        'method = "fast"; than = "slow"; quantity = "iterations to target"; difference = { above = 9 }',
    ),
    (
        "undecided",
        'method = "wild"; than = "slow"; quantity = "cost to target"; difference = { below = -9 }',
    ),
    ("holds", 'method = "slow"; quantity = "iterations to target"; value = { within = [50, 90] }'),
    ("refuted", 'method = "slow"; quantity = "iterations to target"; value = { below = 50 }'),
    ("undecided", 'method = "wild"; quantity = "iterations to target"; value = { below = 55 }'),
    ("holds", 'order = ["fast", "slow"]; quantity = "cost to target"'),
    ("refuted", 'order = ["slow", "fast"]; quantity = "cost to target"'),
    ("undecided", 'order = ["fast", "wild", "slow"]; quantity = "cost to target"'),
    ("holds", 'method = "fast"; bound = true'),
    ("holds", 'method = "fast"; bound = "mean"'),
    ("refuted", 'method = "stuck"; bound = true'),
    ("holds", 'method = "slow"; rate = { within = [0.88, 0.93] }; law = "linear"'),
    ("refuted", 'method = "slow"; rate = { below = 0.8 }; law = "linear"'),
    ("undecided", 'method = "wild"; rate = { below = 0.87 }; law = "linear"'),
    ("holds", 'method = "slow"; reaches = true'),
    ("refuted", 'method = "stuck"; reaches = true'),
    ("holds", 'method = "stuck"; reaches = false'),
    ("refuted", 'method = "slow"; reaches = false'),
    ("undecided", 'method = "slow"; reaches = { above = 0.9 }'),
    ("holds", 'method = "right"; unbiased = true; margin = 0.3'),
    ("refuted", 'method = "off"; unbiased = true'),
    ("undecided", 'method = "coarse"; unbiased = true; margin = 0.1'),
    ("holds", 'method = "right"; than = "coarse"; quantity = "variance"; ratio = { below = 0.5 }'),
    ("refuted", 'method = "coarse"; quantity = "variance"; value = { below = 2 }'),
    ("holds", 'method = "off"; quantity = "bias"; value = { within = [0.5, 1.5] }'),
    ("not testable", 'untestable = "a matter of taste"'),
]


def claim(says, keys, more=""):
    return f'[[claim]]\nsays = "{says}"\n{keys.replace("; ", chr(10))}\n{more}\n'


TRUE = claim("fast is fast", KINDS[0][1])
FALSE = claim("slow is fast", KINDS[7][1])


@pytest.fixture
def paces(cli):
    shutil.copy(PLUGIN, cli.folder)
    return cli


def run(cli, text, *words):
    cli.write("c.toml", text)
    done = cli("run", "c.toml", "--no-report", "--json", *words)
    return done, json.loads(done.stdout)["claims"] if done.returncode < 2 else []


def test_of_every_kind_a_true_claim_holds_a_false_one_is_refuted_and_noise_decides_nothing(paces):
    claims = [claim(f"{number}: {keys}".replace('"', "'"), keys) for number, (_, keys) in enumerate(KINDS)]
    done, found = run(paces, BASE + ESTIMATORS + "".join(claims))
    assert done.returncode == 0, done.stderr
    assert [(each["says"], each["standing"]) for each in found] == [
        (f"{number}: {keys}".replace('"', "'"), standing) for number, (standing, keys) in enumerate(KINDS)
    ]
    for each in found:
        if each["standing"] == "undecided":  # and says how many repetitions would decide it
            assert each["needed"] > 10, each["says"]
        assert each["early"] == 0
    first = found[0]
    assert first["claimed"] == {"low": None, "high": 0.5}
    (part,) = first["parts"]
    assert part["count"] == 10
    assert part["interval"][0] < part["estimate"] < part["interval"][1] < 0.5
    assert 0.9 < part["level"] < 1
    assert first["trials"] == 20

    required = paces("report", "--json", "--require-claims")
    assert required.returncode == 1
    assert json.loads(required.stdout)["claims"] == found
    refuted, undecided = (sum(kind == each for kind, _ in KINDS) for each in ("refuted", "undecided"))
    assert required.stderr == (
        f"benchfw: run 1: {refuted + undecided} of {len(KINDS) - 1} claims are not shown to hold "
        f"({refuted} refuted, {undecided} undecided)\n"
    )
    rows = list(csv.DictReader(paces("export", "--claims").stdout.splitlines()))
    assert list(dict.fromkeys(row["says"] for row in rows)) == [each["says"] for each in found]
    assert len(rows) == len(found) + 1  # an order of three is about two numbers
    assert {row["hash"] for row in rows} == {each["hash"] for each in found}
    assert rows[-1]["reason"] == "a matter of taste"


def test_required_claims_that_hold_end_with_0_and_others_with_1(paces):
    done, found = run(paces, BASE + TRUE + claim("taste", 'untestable = "taste"'), "--require-claims")
    assert (done.returncode, [each["standing"] for each in found]) == (0, ["holds", "not testable"])
    assert "claim" not in done.stderr
    text = BASE + TRUE + FALSE
    done, _ = run(paces, text, "--require-claims")
    assert done.returncode == 1
    assert "benchfw: run 2: 1 of 2 claims is not shown to hold (1 refuted)\n" in done.stderr
    # what did not run is not shown to hold either
    done, _ = run(paces, text, "--require-claims", "--only", "slow")
    assert done.returncode == 1
    assert "2 of 2 claims are not shown to hold (1 not testable, 1 refuted)" in done.stderr
    # unless the suite itself leaves it out of quick runs, and not all of them
    later = claim("later", KINDS[1][1], "quick = false")
    done, found = run(paces, BASE + TRUE + later, "--require-claims", "--quick")
    assert [each["standing"] for each in found] == ["holds", "not testable"]
    assert done.returncode == 0, done.stderr
    paces.write("one.toml", BASE + TRUE)
    paces.write("two.toml", BASE + FALSE)
    both = paces("run", "one.toml", "two.toml", "--no-report", "--require-claims")
    assert both.returncode == 1
    assert "run 6: 1 of 1 claim is not shown to hold" in both.stderr


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (BASE, [], "suite c makes no claim; add a [[claim]] table or leave it out"),
        (BASE + claim("taste", 'untestable = "taste"'), [], "a run of suite c decides none of its claims"),
        (BASE + claim("later", KINDS[0][1], "quick = false"), ["--quick"], "a quick run of suite c decides"),
        (BASE + TRUE, ["--against", "main"], "--against decides no claims; leave out --require-claims"),
    ],
)
def test_claims_that_no_run_could_show_cannot_be_required(paces, text, words, said):
    paces.write("c.toml", text)
    done = paces("run", "c.toml", "--require-claims", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (paces.folder / "reports").exists()


def test_a_run_without_claims_has_none_to_require(paces):
    done, found = run(paces, BASE, "--repetitions", 1)
    assert (done.returncode, found) == (0, [])
    required = paces("report", "--require-claims")
    assert required.returncode == 2
    assert required.stderr == (
        "benchfw: --require-claims: run 1 makes no claim; add a [[claim]] table or leave it out\n"
    )


def test_show_and_the_dry_run_list_the_claims(paces):
    paces.write("c.toml", BASE + claim("fast is fast", KINDS[0][1], 'source = "Figure 2"'))
    shown, planned = paces("show", "c.toml").stdout, paces("run", "c.toml", "--dry-run").stdout
    for text in (shown, planned):
        assert "fast is fast (Figure 2)\n" in text
        assert "ratio of cost to target, fast to slow: below 0.5\n" in text
    assert "optimizers: slow, fast, wild, stuck" in shown
    (facts,) = json.loads(paces("show", "c.toml", "--json").stdout)
    assert facts["claims"][0]["source"] == "Figure 2"
    assert paces("show", "none.toml").returncode == 2


def test_too_few_repetitions_are_said_before_the_run_and_after_it(paces):
    paces.write("c.toml", BASE + TRUE + FALSE)
    planned = paces("run", "c.toml", "--dry-run", "--repetitions", 5).stdout
    said = "c: 5 repetitions are too few to decide both claims: at least 6 are needed (--repetitions 6)\n"
    assert said in planned
    assert "too few" not in paces("run", "c.toml", "--dry-run", "--repetitions", 6).stdout
    paces.write("one.toml", BASE + TRUE)
    planned = paces("run", "one.toml", "--dry-run", "--repetitions", 1).stdout
    assert "one: 1 repetition is too few to decide its claim: at least 5 are needed" in planned
    done = paces("run", "c.toml", "--no-report", "--repetitions", 5)
    assert f"benchfw: {said}" in done.stderr
    assert "5 runs are too few for an interval, at least 6 are needed" in " ".join(done.stdout.split())


ARRIVES = claim("slow arrives", 'method = "slow"; reaches = true')
HALF_ARRIVE = claim("slow seldom arrives", 'method = "slow"; reaches = { below = 0.5 }')
MOST_ARRIVE = claim("slow mostly arrives", 'method = "slow"; reaches = { above = 0.8 }')
FULL = "quick = false\n"  # of the claim before it
IN_THE_MEAN = claim("fast keeps to its bound", 'method = "fast"; bound = "mean"')
NO_BIAS = claim("right has no bias", 'method = "right"; unbiased = true')


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (ARRIVES, ["--repetitions", 1], ""),
        (IN_THE_MEAN, ["--repetitions", 4], "to decide its claim: at least 5 are"),
        (ESTIMATORS + NO_BIAS, ["--repetitions", 2], "to decide its claim: at least 3 are"),
        (ESTIMATORS + NO_BIAS, ["--repetitions", 3], ""),
        (ESTIMATORS + NO_BIAS + TRUE, ["--repetitions", 4], "to decide both claims: at least 5 are"),
        (HALF_ARRIVE, ["--repetitions", 4], "to decide its claim: at least 5 are"),
        (HALF_ARRIVE, ["--repetitions", 5], ""),
        (MOST_ARRIVE, ["--repetitions", 1], "to decide its claim: at least 2 are"),
        (HALF_ARRIVE + MOST_ARRIVE + TRUE, ["--repetitions", 5], "to decide all 3 claims: at least 6 are"),
        (TRUE + FULL, ["--repetitions", 4, "--quick"], ""),
        (FALSE + TRUE + FULL, ["--repetitions", 4, "--quick"], "to decide its claim: at least 5 are"),
        (ARRIVES + TRUE, ["--repetitions", 5], ""),
        (TRUE + FALSE, ["--repetitions", 5, "--only", "slow"], ""),
    ],
)
def test_how_many_repetitions_are_too_few_depends_on_what_is_claimed(paces, text, words, said):
    paces.write("c.toml", BASE + text)
    planned = paces("run", "c.toml", "--dry-run", *words).stdout
    assert ("too few" in planned) is bool(said)
    assert said in planned


def test_a_claim_that_one_run_refutes_leaves_its_share_to_the_others(paces):
    refuted = claim("stuck arrives", 'method = "stuck"; reaches = true')
    done, (_, other) = run(paces, BASE + refuted + TRUE, "--repetitions", 5)
    assert "too few" not in done.stderr
    assert other["standing"] == "holds"


def test_a_claim_that_is_edited_is_registered_anew_and_says_so(paces):
    _, (first, kept) = run(paces, BASE + TRUE + FALSE)
    again, (same, _) = run(paces, BASE + TRUE + FALSE)
    assert json.loads(again.stdout)["reused"] == 40
    assert (same["registered"], same["hash"], same["early"]) == (first["registered"], first["hash"], 0)
    edits = {
        "says": TRUE.replace("fast is fast", "fast is really fast"),
        "source": TRUE + 'source = "Figure 2"\n',
        "number": TRUE.replace("0.5", "0.4"),
    }
    for edited in edits.values():
        _, (later, unchanged) = run(paces, BASE + edited + FALSE)
        assert later["hash"] != first["hash"]
        assert later["registered"] > first["registered"]
        assert later["early"] == later["trials"] == 20
        assert (unchanged["registered"], unchanged["early"]) == (kept["registered"], 0)
    text = paces("report").stdout
    assert "holds, not pre-registered: " in " ".join(text.split())
    assert "it was written after all 20 of its trials had run" in " ".join(text.split())
    old = json.loads(paces("report", "1", "--json").stdout)["claims"]
    assert (old[0]["says"], old[0]["early"]) == ("fast is fast", 0)
    assert json.loads(paces("runs", "--json").stdout)[0]["claims"] == 2


def test_trials_that_run_again_were_seen_before_a_claim_that_is_edited(paces):
    run(paces, BASE + TRUE)
    for _ in range(2):
        done, (later,) = run(paces, BASE + TRUE.replace("0.5", "0.4"), "--fresh")
        assert json.loads(done.stdout)["reused"] == 0
        assert later["early"] == later["trials"] == 20
    _, (first,) = run(paces, BASE + TRUE, "--fresh")
    assert first["early"] == 0


def test_a_claim_in_the_same_words_about_other_methods_or_problems_is_another_one(paces):
    easy = '[[problem]]\nuse = "slope"\nlabel = "easy"\nstart = 2.0\n'
    _, (first,) = run(paces, BASE + easy + TRUE)
    _, (fewer,) = run(paces, BASE + TRUE)  # one problem was taken away
    assert fewer["hash"] == first["hash"]
    assert fewer["registered"] > first["registered"]
    assert fewer["early"] == fewer["trials"] == 20
    _, (more,) = run(paces, BASE + easy + TRUE)  # nothing that was there is missing
    assert more["early"] == 0
    swapped = BASE.replace('"slow"', '"x"').replace('"fast"', '"slow"').replace('"x"', '"fast"')
    _, (other,) = run(paces, swapped + easy + TRUE)
    assert (other["standing"], other["early"]) == ("refuted", 40)


def test_a_claim_is_not_decided_by_a_part_of_what_it_is_about(paces):
    easy = '[[problem]]\nuse = "slope"\nlabel = "easy"\nstart = 2.0\n'
    done, (part,) = run(paces, BASE + easy + TRUE, "--only", "easy", "--require-claims")
    assert done.returncode == 1
    assert (part["standing"], part["reason"]) == (
        "not testable",
        "slow on slope (numpy) was left out (--only)",
    )
    named = TRUE + 'problem = "easy"\n'
    assert run(paces, BASE + easy + named, "--only", "easy", "--require-claims")[0].returncode == 0


def test_a_bundle_and_a_saved_store_keep_when_a_claim_was_registered(paces):
    _, (first,) = run(paces, BASE + TRUE)
    assert paces("export", "--bundle", "c.zip").returncode == 0
    other = paces.elsewhere(paces.folder / "other")
    other.folder.mkdir()
    for name in ("c.zip", "paces.py"):
        shutil.copy(paces.folder / name, other.folder)
    done = other("run", "--from-bundle", "c.zip", "--plugin", "paces.py", "--no-report", "--json")
    (found,) = json.loads(done.stdout)["claims"]
    assert (found["registered"], found["early"]) == (first["registered"], 0)

    assert paces("store", "check").returncode == 0
    with sqlite3.connect(paces.folder / "reports/benchfw.sqlite") as base:
        base.execute("UPDATE trial SET reason = 'other' WHERE id = (SELECT max(id) FROM trial)")
    assert "39 trials" in paces("store", "check", "--copy", "saved.sqlite").stdout
    (left,) = json.loads(paces("report", "--json", "--store", "saved.sqlite").stdout)["claims"]
    assert (left["registered"], left["hash"]) == (first["registered"], first["hash"])


@pytest.fixture(scope="module")
def claimed(tmp_path_factory, run_inline):
    """The folder of a run with a claim."""
    folder = tmp_path_factory.mktemp("claimed")
    shutil.copy(PLUGIN, folder)
    (folder / "c.toml").write_text(BASE + TRUE, encoding="utf-8")
    words = ["run", "c.toml", "--no-report", "--no-replay", "--jobs", "0", "--repetitions", "1"]
    assert run_inline(words, folder, dict(os.environ)).returncode == 0
    return folder


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda each: each.update(table=5), "a claim has a hash, a table"),
        (lambda each: each["table"].update(ratio={"below": float("nan")}), "below must be a finite number"),
        (lambda each: each["table"].update(says="fast is slow"), "its hash is not that of what it says"),
        (lambda each: each["table"].update(order=[["fast"]]), "has ratio and order"),
        (lambda each: each.update(registered="long ago"), "a claim was registered 'long ago'"),
        (lambda each: each.pop("registered"), "'registered'"),
    ],
)
def test_a_forged_claim_is_one_sentence(paces, claimed, change, said):
    shutil.copytree(claimed, paces.folder, dirs_exist_ok=True)
    with sqlite3.connect(paces.folder / "reports/benchfw.sqlite") as base:
        (text,) = base.execute("SELECT environment FROM run").fetchone()
        environment = json.loads(text)
        change(environment["claims"][0])
        base.execute("UPDATE run SET environment = ?", (json.dumps(environment),))
        _, *row = base.execute(SELECT_RUN, (1,)).fetchone()
        base.execute(SEAL_RUN, (digest_of(tuple(row)), 1))
    done = paces("report")
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert paces("run", "c.toml", "--no-report").returncode in {0, 2}  # the same claim once more


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            BASE + claim("a", 'method = "slow"; quantity = "gpa at the end"; value = { below = 1 }'),
            "c.toml, [[claim]] 1: 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?",
        ),
        (
            BASE + TRUE + claim("a", 'method = "slow"; rate = { below = 0 }; metric = "gpa"'),
            "c.toml, [[claim]] 2: 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?",
        ),
        (
            BASE.replace("gap =", "gpa ="),
            "c.toml: target 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?",
        ),
        (
            BASE.replace("pace = 0.3", 'pace = { tune = "log", from = 0.1, to = 1 }').replace(
                "target", 'tune = { metric = "gpa", trials = 50 }\ntarget'
            ),
            "c.toml: tune.metric 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?",
        ),
    ],
)
def test_a_metric_that_no_problem_has_ends_the_run_with_the_first_trial(paces, text, said):
    paces.write("c.toml", text)
    done = paces("run", "c.toml", "--no-report")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"benchfw: {said}"
    stored = paces.last_run()
    assert stored["trials"] + stored["tuning_trials"] == 1  # which is kept
    again = paces("run", "c.toml", "--no-report")
    assert (again.returncode, again.stderr.splitlines()[-1]) == (2, f"benchfw: {said}")


def test_a_metric_is_checked_by_what_the_store_has_before_anything_runs(paces):
    run(paces, BASE, "--repetitions", 1)
    wrong = claim("a", 'method = "slow"; quantity = "gpa at the end"; value = { below = 1 }')
    paces.write("c.toml", BASE + wrong)
    done = paces("run", "c.toml", "--no-report")
    assert done.returncode == 2
    assert done.stderr == (
        "benchfw: c.toml, [[claim]] 1: 'gpa' is not a metric of problem 'slope'; did you mean 'gap'?\n"
    )
    assert paces.run_count() == 1


TUNED = """
title = "Matrix completion"
seed = 7
repetitions = 6
budget = { seconds = 5, iterations = 60 }
target = { test_rmse = 2.8 }
reference = "gd"
tune = { trials = 2, repetitions = 1 }

[[problem]]
use = "matrix-completion"
dataset = "movielens-like(users=30, items=20, ratings=300)"

[[optimizer]]
use = "gd"
step = { tune = "log", from = 0.1, to = 10 }

[[optimizer]]
use = "svrg"
step = { tune = "log", from = 0.1, to = 10 }
estimator = { use = "chebyshev", probes = 10, distribution = { use = "optimal", mean = 15 } }
"""


@pytest.mark.families
def test_a_claim_about_tuned_methods_is_decided_by_the_trials_of_the_verdict(cli):
    pytest.importorskip("benchfw_spectral")
    pair = 'method = "svrg"; than = "gd"; quantity = "{} to target"; ratio = {{ below = 0.5 }}'
    source = 'source = "Han, Avron & Shin 2018, Figure 2(a)"'
    claims = [
        claim(f"SVRG is twice as good in {each}", pair.format(each), source) for each in ("seconds", "cost")
    ]
    done, found = run(cli, TUNED + "".join(claims))
    assert done.returncode == 0, done.stderr
    seconds, cost = found
    # a step by ten probes costs more than an exact one where there are 20 items
    assert cost["standing"] == "refuted"
    assert seconds["standing"] != "holds"
    assert all(each["parts"][0]["estimate"] > 1 for each in found)
    assert all(each["parts"][0]["count"] == 6 for each in found)
    assert cost["trials"] == 12
