"""What goes away warns first, and then does go."""

import pytest
from packaging.version import Version

import benchfw
from benchfw.deprecation import DEPRECATED, deprecated


def test_a_deprecated_function_warns_with_what_to_call_instead_and_still_works():
    @deprecated(gone_in="9.0", instead="new_name")
    def old_name(x):
        return x + 1

    with pytest.warns(DeprecationWarning, match=r"old_name will be gone in benchfw 9.0; use new_name"):
        assert old_name(1) == 2
    del DEPRECATED[next(name for name in DEPRECATED if "old_name" in name)]


def test_nothing_outlives_the_version_that_was_to_be_without_it():
    for name, gone_in in DEPRECATED.items():
        assert Version(benchfw.__version__) < Version(gone_in), f"{name} was to be gone in {gone_in}"
