from __future__ import annotations

import base64
import gzip
import json
import math

import numpy as np
import pytest

from benchfw.report.figures import packing
from benchfw.report.figures.plot import Figure, View, with_gaps

LINE = with_gaps(np.array([0.0, 1.0, -1 / 3, 1e-9, 1.7e308, 1e-300, math.inf, math.nan]))


def unpack(text):
    block = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(block[:4], "little")
    halves = np.frombuffer(block, "<u4", offset=4 + length).astype(np.uint64)
    return json.loads(block[4 : 4 + length]), (halves << np.uint64(32)).view(np.float64)


def figure(*lines):
    return Figure("One", "", "", (View("", [{"x": [1, None], "y": line} for line in lines], {}),))


def test_a_small_page_has_the_numbers_of_its_lines_in_its_json():
    text, kind = packing.pack_figures([figure(LINE)])
    assert kind == "application/json"
    (trace,) = json.loads(text)[0]["views"][0]["data"]
    assert trace["y"] == [0.0, 1.0, -0.333333, 1e-9, 1.7e308, 1e-300, None, None]


def test_a_large_page_has_six_figures_of_all_numbers_in_a_block(monkeypatch):
    monkeypatch.setattr(packing, "MOST_NUMBERS", 10)
    text, kind = packing.pack_figures([figure(LINE, 2 * LINE[:3]), figure(LINE[:2])])
    assert kind == "application/gzip"
    found, numbers = unpack(text)
    traces = [trace for each in found for trace in each["views"][0]["data"]]
    assert [each["y"] for each in traces] == [
        {"at": 0, "count": 8}, {"at": 8, "count": 3}, {"at": 11, "count": 2},
    ]  # fmt: skip
    assert all(each["x"] == [1, None] for each in traces)
    np.testing.assert_allclose(numbers[:8], LINE, rtol=5e-7)
    np.testing.assert_allclose(numbers[8:], [*(2 * LINE[:3]), *LINE[:2]], rtol=5e-7)


def test_what_is_neither_json_nor_an_array_is_refused():
    with pytest.raises(TypeError, match="set is not JSON serializable"):
        packing.pack_figures([figure({1})])
