"""What an object may have beside its protocol is typed, and read with a default."""

from itertools import islice
from types import SimpleNamespace

from benchfw import Claims, Constants, claims_of, constants_of, draws_of
from benchfw.contract import cost_unit_of


def test_what_an_object_does_not_say_has_a_default():
    assert constants_of(object()) == Constants()
    assert claims_of(object()) == Claims(unbiased=False)
    assert cost_unit_of(object()) == "gradients"


def test_what_it_says_is_taken():
    known, claims = Constants(smoothness=2.0), Claims(unbiased=True, averages="probes")
    assert constants_of(SimpleNamespace(constants=known)) is known
    assert claims_of(SimpleNamespace(claims=claims)) is claims


def test_the_draws_of_steps_are_independent_unless_the_estimator_has_its_own():
    plain = SimpleNamespace(draw=lambda problem, rng: next(rng))
    assert list(islice(draws_of(plain, None, iter("abc")), 3)) == ["a", "b", "c"]
    passes = SimpleNamespace(draw=lambda problem, rng: next(rng), draws=lambda problem, rng: iter("xy"))
    assert list(islice(draws_of(passes, None, iter("ab")), 3)) == ["x", "y", "a"]
