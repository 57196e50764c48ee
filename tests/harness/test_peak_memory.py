"""The peak of memory is that since it was last forgotten."""

import numpy as np
import pytest

from benchfw.harness.peak_memory import CLEAR, forget_peak, peak_memory


@pytest.mark.skipif(not CLEAR.exists(), reason="only Linux keeps the peak")
def test_a_peak_is_seen_after_it_and_forgotten_on_request():
    assert forget_peak()
    before = peak_memory()
    np.ones(5_000_000)  # 40 MB
    assert 35e6 < peak_memory() - before < 80e6
    assert forget_peak()
    assert peak_memory() - before < 20e6


def test_a_system_without_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("benchfw.harness.peak_memory.CLEAR", tmp_path / "nowhere" / "clear_refs")
    assert not forget_peak()
