"""benchfw-example-sag: a plugin for benchfw.

benchfw calls the hooks of this file and of no other: a new file, such as `benchfw new` writes, is found,
checked and run once the hook of its kind below calls that file's.
"""

from pathlib import Path

from benchfw import hookimpl
from benchfw_example_sag import optimizer, problem

benchfw_api = 1  # the version of benchfw's API that this is written for


@hookimpl
def register_optimizers(register):
    """Add the optimizers of this package: a line for each file."""
    optimizer.register_optimizers(register)


@hookimpl
def register_problems(register):
    """Add the problems of this package: a line for each file."""
    problem.register_problems(register)


@hookimpl
def register_suites(register):
    """Add the suites of this package."""
    register(Path(__file__).parent / "suites")
