"""What this package registers does what its roles promise."""

from benchfw.testing import Effort, parametrize_with_checks


@parametrize_with_checks("benchfw_bridges", effort=Effort(seconds=0.15, iterations=30, timeout=600))
def test_the_bridges_pass_the_conformance_checks(check):
    check()
