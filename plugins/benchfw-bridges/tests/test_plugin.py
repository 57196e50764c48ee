"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

LIBRARIES = ("scipy", "sklearn", "torch", "jax", "optax", "benchopt")


def test_import_brings_in_no_other_library():
    code = f"import benchfw_bridges, sys; print([each for each in {LIBRARIES} if each in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
