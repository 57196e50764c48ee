"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIBRARIES = ("sklearn", "torch", "jax", "optax", "benchopt")
PACKAGE = "import benchfw_bridges"
REGISTERED = """
from benchfw.registry import Registry
for kind in ("problem", "optimizer"):
    for entry in Registry().entries(kind).values():
        getattr(entry.factory, "check_with", ())
"""


@pytest.mark.parametrize(
    ("code", "libraries"),
    [(PACKAGE, ("scipy", *LIBRARIES)), (REGISTERED, LIBRARIES)],
    ids=["package", "names"],
)
def test_no_library_is_imported_with_the_package_or_with_what_it_registers(code, libraries):
    """Checks of every plugin look at all problems, in a process that they fork."""
    asked = f"{code}\nimport sys; print([each for each in {libraries} if each in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
