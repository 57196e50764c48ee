"""What a message suggests instead of a name that does not exist."""

from __future__ import annotations

import pytest

from benchfw.errors import nearest


@pytest.mark.parametrize(
    ("legal", "said"),
    [
        (["sgd", "gd (step=0.1)", "gd (step=0.2)"], "; choose from: gd (step=0.1), gd (step=0.2)"),
        (["sgd", "gd (step=0.1)"], "; did you mean 'gd (step=0.1)'?"),
        (["sgd", "adam"], "; did you mean 'sgd'?"),
    ],
)
def test_a_method_of_a_sweep_is_suggested_before_one_that_is_spelled_alike(legal, said):
    assert nearest("gd", legal) == said
