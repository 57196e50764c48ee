"""What this package registers does what its roles promise."""

from benchfw.testing import parametrize_with_checks


@parametrize_with_checks("benchfw_variational")
def test_the_family_passes_the_conformance_checks(check):
    check()
