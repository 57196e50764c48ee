"""The small script draws a page wherever it can, and the whole one where it must."""

import pytest

from benchfw.errors import BenchfwError
from benchfw.report.figures.plot import extra_figure
from benchfw.report.html import script
from benchfw.report.html.script import can_draw, drawing_script

LINES = extra_figure({"data": [{"x": [1], "y": [2]}, {"type": "bar", "y": [1]}]})
HEATMAP = extra_figure({"data": [{"type": "heatmap", "z": [[1]]}]})


@pytest.fixture
def small(tmp_path, monkeypatch):
    path = tmp_path / "small.js"
    monkeypatch.setattr(script, "SMALL", path)
    return path


def test_the_small_script_is_taken_where_it_is(small):
    assert drawing_script([LINES]).name == "plotly.min.js"
    small.touch()
    assert drawing_script([LINES]) == small


def test_a_figure_that_the_small_script_cannot_draw_gets_the_whole_one(small):
    small.touch()
    assert drawing_script([LINES, HEATMAP]).name == "plotly.min.js"


def test_without_plotly_only_the_small_script_draws(small, monkeypatch):
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    assert not can_draw()
    small.touch()
    assert can_draw()
    assert drawing_script([LINES]) == small
    with pytest.raises(BenchfwError, match=r"needs plotly.*pip install 'benchfw\[report\]'"):
        drawing_script([HEATMAP])
