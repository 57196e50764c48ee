"""The package as a plugin."""

from __future__ import annotations

import subprocess
import sys

import benchfw_firstorder


def test_every_public_name_is_there():
    for name in ("SGD", "Quadratic", "Minibatch", "Subdifferentiable"):
        assert name in dir(benchfw_firstorder)
        assert getattr(benchfw_firstorder, name).__name__ == name


def test_import_brings_in_no_scipy():
    code = "import benchfw_firstorder, sys; print('scipy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
