"""The names in claims are checked against the suite before anything runs."""

from pathlib import Path

import pytest

from benchfw.errors import SuiteError
from benchfw.plan import plan
from benchfw.registry import Registry
from benchfw.suite import parse_suite

SUITE = """
target = { gap = 1e-3 }
[[problem]]
use = "slope"
[[problem]]
use = "slope"
label = "other"
start = 2.0
[[optimizer]]
use = "shrink"
label = "slow"
on = "slope"
[[optimizer]]
use = "shrink"
label = "fast"
pace = 0.3
on = "other"
[[optimizer]]
use = "shrink"
label = "wild"
noise = 0.5
[[estimator]]
use = "guess"
"""

GOOD = '[[claim]]\nsays = "fine"\nmethod = "slow"\nreaches = true\n'


@pytest.fixture(scope="module")
def registry():
    return Registry([str(Path(__file__).parents[1] / "plugins" / "paces.py")])


def read(text, registry):
    return plan(parse_suite(text, "my.toml"), registry, "my.toml")


def test_a_claim_may_name_a_backend_and_every_problem(registry):
    named = '[[claim]]\nsays = "b"\nmethod = "wild (cupy)"\nproblem = ["slope", "other"]\nreaches = true\n'
    assert len(read(SUITE + GOOD + named, registry)) == 30


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('method = "slwo"\nreaches = true', "no method is labelled 'slwo'; did you mean 'slow'?"),
        (
            'method = "shrink"\nreaches = true',
            "no method is labelled 'shrink'; choose from: fast, guess, slow, wild",
        ),
        (
            'method = "slow"\nthan = "wlid"\nquantity = "cost to target"\nratio = { below = 1 }',
            "no method is labelled 'wlid'; did you mean 'wild'?",
        ),
        (
            'method = "slow"\nproblem = "slop"\nreaches = true',
            "no problem is labelled 'slop'; did you mean 'slope'?",
        ),
        (
            'method = "slow"\nquantity = "variance"\nvalue = { below = 1 }',
            "'variance' is for estimators, and 'slow' is of another kind: optimizer",
        ),
        (
            'method = "guess"\nquantity = "cost to target"\nvalue = { below = 1 }',
            "'cost to target' is for optimizers, and 'guess' is of another kind: estimator",
        ),
        (
            'method = "guess"\nreaches = true',
            "'reaches' is for optimizers, and 'guess' is of another kind: estimator",
        ),
        (
            'method = "slow"\nunbiased = true',
            "'unbiased' is for estimators, and 'slow' is of another kind: optimizer",
        ),
        (
            'order = ["slow", "fast"]\nquantity = "cost to target"',
            "slow and fast are never run on the same problem",
        ),
        ('method = "slow"\nproblem = "other"\nreaches = true', "slow is never run on other"),
    ],
)
def test_what_the_suite_does_not_have_is_one_sentence_with_file_and_table(registry, keys, said):
    with pytest.raises(SuiteError) as fault:
        read(f'{SUITE}{GOOD}[[claim]]\nsays = "a"\n{keys}\n', registry)
    assert str(fault.value) == f"my.toml, [[claim]] 2: {said}"


def test_a_claim_about_a_target_needs_one(registry):
    with pytest.raises(SuiteError) as fault:
        read(SUITE.replace("target = { gap = 1e-3 }", "") + GOOD, registry)
    said = "my.toml, [[claim]] 1: it is about a target, and there is none; give target = { … }"
    assert str(fault.value) == said


def test_a_claim_stands_once(registry):
    with pytest.raises(SuiteError, match=r"my.toml, \[\[claim\]\] 2: 'fine' is claimed twice; remove one"):
        read(SUITE + GOOD + GOOD, registry)
    with pytest.raises(SuiteError, match=r"my.toml: 'claim' must be written as \[\[claim\]\] tables"):
        read(f"claim = 3\n{SUITE}", registry)
