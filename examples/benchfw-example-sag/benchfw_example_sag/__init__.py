"""benchfw-example-sag: a plugin for benchfw."""

from pathlib import Path

from benchfw import hookimpl
from benchfw_example_sag.optimizer import ExampleSag, register_optimizers
from benchfw_example_sag.problem import ExampleSagProblem, register_problems

benchfw_api = 1  # the version of benchfw's API that this is written for

# benchfw calls the hooks that it finds here: those of the files, and one more
__all__ = ["ExampleSag", "ExampleSagProblem", "register_optimizers", "register_problems", "register_suites"]


@hookimpl
def register_suites(register):
    """Add the suites of this package."""
    register(Path(__file__).parent / "suites")
