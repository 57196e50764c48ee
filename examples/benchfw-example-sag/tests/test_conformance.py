"""What this package registers does what its roles promise."""

from benchfw.testing import parametrize_with_checks


@parametrize_with_checks("benchfw_example_sag")
def test_conformance(check):
    check()
