"""On a GPU the conformance checks find what a host cannot see."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.testing import CheckStatus, Effort, run_checks, subjects_of

try:
    get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

TESTING = Path(__file__).parent.parent / "testing"
EFFORT = Effort(seconds=0.5, iterations=50)


def failed(target, only=None):
    outcomes = run_checks(subjects_of(str(target), effort=EFFORT), only)
    return [each for each in outcomes if each.status is CheckStatus.FAILED]


def test_a_cupy_body_that_is_wrong_at_odd_sizes_is_found(tmp_path):
    good = (TESTING / "good" / "everything.py").read_text("utf-8")
    body = '@squares.on("cupy")\ndef _squares_cupy(x):\n    return x * x * (x.shape[0] % 2 == 0)\n\n\n'
    (tmp_path / "broken.py").write_text(good.replace('@kernel("total")', f'{body}@kernel("total")'), "utf-8")
    found = failed(tmp_path / "broken.py", "bodies-agree")
    assert {each.check.name for each in found} == {"bodies-agree"}
    assert "cupy body, size 1" in found[0].detail


def test_a_good_plugin_of_each_kind_passes_on_the_gpu_too():
    assert not failed(TESTING / "good" / "everything.py")


def test_the_kernels_of_the_core_agree_on_the_gpu_at_every_size_and_stride():
    found = failed("core", "bodies-agree")
    assert not found, "\n".join(map(str, found))
