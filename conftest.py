"""What `make test` leaves to `make test-all`: marks `thorough` and `sampled`, options --all and --rest.

And the fixtures that the tests of several packages share.
"""

import hashlib
import os
from collections import Counter

from hypothesis import HealthCheck, is_hypothesis_test, settings

from benchfw.testing.pytest_plugin import BoundCheck

pytest_plugins = [
    f"fixtures.{name}" for name in ("browser", "cli", "command", "lines", "results", "toys")
]  # of tests/

SUBJECTS_A_CHECK = 1
"""How many of those that a conformance check is about `make test` tries it on, at least."""
EXAMPLES, ALL_EXAMPLES = 20, 60
"""How many examples a property is tried on."""
COMPILED_ONCE = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
}
"""What JAX compiles is shared by all tests and their processes: every check compiles the same steps."""


def pytest_addoption(parser):
    group = parser.getgroup("benchfw")
    group.addoption(
        "--all",
        action="store_true",
        help="also run tests marked thorough, every case of those marked sampled, every conformance check, "
        "and more examples of every property",
    )
    group.addoption("--rest", action="store_true", help="run what --all adds, and nothing else")


def runs_all(config):
    return config.getoption("all") or config.getoption("rest")


def pytest_configure(config):
    cache = {"JAX_COMPILATION_CACHE_DIR": str(config.rootpath / ".pytest_cache" / "jax")}
    os.environ.update(COMPILED_ONCE | cache | os.environ)
    # the same examples on every machine, and none of them too slow for a busy one
    settings.register_profile(
        "benchfw",
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=ALL_EXAMPLES if runs_all(config) else EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow],  # which goes by the clock
    )
    settings.load_profile("benchfw")


def pytest_collection_modifyitems(config, items):
    if config.getoption("all"):
        return
    left_out = {each for each in items if each.get_closest_marker("thorough")}
    left_out |= unsampled_cases(items) | unsampled_checks(items)
    if config.getoption("rest"):
        properties = {each for each in items if is_hypothesis_test(getattr(each, "obj", None))}
        left_out = {*items} - left_out - properties
    config.hook.pytest_deselected(items=[each for each in items if each in left_out])
    items[:] = [each for each in items if each not in left_out]


def in_order_of_hash(items):
    """Return tests in an order that neither their place nor their number decides, always the same."""
    return sorted(items, key=lambda each: hashlib.sha256(each.nodeid.encode()).digest())


def unsampled_cases(items):
    """Return the cases to leave out of tests that are marked `sampled(how_many)`."""
    taken, left_out = Counter(), set()
    for item in in_order_of_hash(each for each in items if each.get_closest_marker("sampled")):
        test = item.nodeid.partition("[")[0]
        if taken[test] == item.get_closest_marker("sampled").args[0]:
            left_out.add(item)
        else:
            taken[test] += 1
    return left_out


def unsampled_checks(items):
    """Return the conformance checks to leave out.

    Enough stay, of those in one file, to try each subject once, and each check of a role on a few subjects.
    """
    tried, left_out = Counter(), set()
    for item in in_order_of_hash(each for each in items if isinstance(bound_check(each), BoundCheck)):
        bound = bound_check(item)
        subject = (item.path, str(bound.subject))
        check = (item.path, bound.subject.kind, bound.check.name)
        if tried[subject] and tried[check] >= SUBJECTS_A_CHECK:
            left_out.add(item)
        else:
            tried.update((subject, check))
    return left_out


def bound_check(item):
    return item.callspec.params.get("check") if hasattr(item, "callspec") else None
