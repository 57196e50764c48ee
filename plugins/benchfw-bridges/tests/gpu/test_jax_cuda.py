"""On a GPU: JAX in a trial on the host leaves the memory of the device to other trials."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable

pytest.importorskip("jax")
try:
    get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

SHARE_TAKEN = """
from cupy.cuda.runtime import memGetInfo
from benchfw_bridges.from_jax.runtime import start_jax

before, total = memGetInfo()
start_jax().numpy.ones(3).block_until_ready()
print((before - memGetInfo()[0]) / total)
"""


def test_jax_takes_no_share_of_the_memory_of_a_device():
    ended = subprocess.run([sys.executable, "-c", SHARE_TAKEN], capture_output=True, text=True, check=True)
    assert float(ended.stdout) < 0.25
