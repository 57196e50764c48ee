"""Settings, methods and tuners that do not do what they should."""

import pytest

from benchfw import Choice
from benchfw.errors import BenchfwError
from benchfw.store import Store


def test_a_setting_that_the_method_refuses_comes_last(tune):
    result = tune({"use": "slide", "step": Choice([-1.0, 0.5, 0.9])})
    tuning = result.tuning.set_index("step")
    assert tuning.loc[0.9, "chosen"]
    assert not tuning.loc[-1.0, "reached"]


TUNERS = """
from benchfw import hookimpl

class Odd:
    is_sequence = False

    def __init__(self):
        {begins}

    def propose(self, spaces, trials, seed, tried):
        {body}

@hookimpl
def register_tuners(register):
    register("odd", Odd)
"""


def test_a_tuner_that_cannot_begin_is_an_error_before_there_is_a_run(tune, plugin_file, tmp_path):
    odd = plugin_file(TUNERS.format(begins="raise ValueError('no luck')", body="return []"), "odd.py")
    for tuner, why in (("odd", "'odd' cannot be made: it raised ValueError: no luck"), ("grid", "too few")):
        with pytest.raises(BenchfwError, match=why):
            tune(
                {"use": "slide", "step": Choice([0.1, 0.2, 0.3, 0.4, 0.5])},
                plugins=[odd],
                tune={"trials": 4, "repetitions": 1, "tuner": tuner},
            )
    with Store(tmp_path / "store.sqlite") as store:
        assert store.runs() == []
