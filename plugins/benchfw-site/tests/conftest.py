"""The command line in a folder of a test's own, as the tests of the core have it."""

from cli.conftest import cli

__all__ = ["cli"]
