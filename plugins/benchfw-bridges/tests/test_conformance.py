"""What this package registers does what its roles promise."""

import pytest

from benchfw.testing import Effort, parametrize_with_checks


@pytest.mark.thorough  # each check of a method of JAX takes a process that starts it
@parametrize_with_checks("benchfw_bridges", effort=Effort(seconds=0.15, iterations=30, timeout=600))
def test_the_bridges_pass_the_conformance_checks(check):
    check()
