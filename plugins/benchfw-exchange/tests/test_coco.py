"""Curves in COCO's format are read as cocopp reads them: an index, and data by evaluations."""

from __future__ import annotations

import ast
import re

import pytest

from benchfw.errors import BenchfwError
from benchfw.summary.summarize import summarize
from benchfw_exchange.coco import write_coco

PAIR = re.compile(r" *([^,=]+?) *= *(\".*?\"|'.*?'|[^,]+) *(?=,|$)")  # as cocopp.pproc.parseinfo


@pytest.fixture
def results(make):
    """Two runs of a method whose third look is worse than its second."""
    return [
        make.result(
            "optimizer", "p", "a, 'b'", r, make.curve("gap", [9, 2, 3, 1], cost=8.0), target={"gap": 1.0}
        )
        for r in range(2)
    ]


@pytest.fixture
def written(results, run, tmp_path):
    (folder,) = write_coco(summarize(run, results), run, results, tmp_path)
    return folder


def rows_of(path):
    """Return the numbers of each trial, which begins with a comment."""
    trials = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("%"):
            trials.append([])
        else:
            trials[-1].append([float(each) for each in line.split()])
    return trials


def test_the_index_names_the_method_the_problem_and_the_end_of_each_run(written):
    header, comment, data = (written / "bbobexp_f1.info").read_text(encoding="utf-8").splitlines()
    found = {name: ast.literal_eval(value) for name, value in PAIR.findall(header)}
    assert found == {"suite": "bbob", "funcId": 1, "DIM": 2, "Precision": 1e-8, "algId": "a_ _b_"}
    assert comment.startswith("% benchfw run")
    path, *ends = data.split(", ")
    assert path == "data_f1/bbobexp_f1_DIM2.dat"
    assert ends == ["1:24|1.0e+00", "2:24|1.0e+00"]


def test_dat_has_what_improves_and_tdat_every_look(written):
    folder = written / "data_f1"
    improving, every = rows_of(folder / "bbobexp_f1_DIM2.dat"), rows_of(folder / "bbobexp_f1_DIM2.tdat")
    assert len(improving) == len(every) == 2
    assert [row[2] for row in improving[0]] == [9, 2, 1]
    assert [row[1] for row in every[0]] == [9, 2, 3, 1]
    assert [row[2] for row in every[0]] == [9, 2, 2, 1]
    evaluations = [row[0] for row in every[0]]
    assert evaluations == [1, 8, 16, 24]


def test_a_gap_that_nobody_recorded_is_to_the_lowest_objective(make, run, tmp_path):
    results = [
        make.result("optimizer", "p", name, 0, make.curve("objective", values), target={"gap": 1.0})
        for name, values in {"good": [9, 4], "better": [9, 3]}.items()
    ]
    write_coco(summarize(run, results), run, results, tmp_path)
    (looks,) = rows_of(tmp_path / "good-numpy" / "data_f1" / "bbobexp_f1_DIM2.tdat")
    assert [row[1] for row in looks] == [6, 1]


def test_methods_with_similar_names_have_folders_of_their_own(make, run, tmp_path):
    results = [
        make.result("optimizer", "p", name, 0, make.curve("gap", [9, 2, 1]), target={"gap": 1.0})
        for name in ("gd a/b", "gd a-b")
    ]
    folders = write_coco(summarize(run, results), run, results, tmp_path)
    assert [each.name for each in folders] == ["gd-a-b-numpy", "gd-a-b-numpy-2"]
    found = [each.read_text() for folder in folders for each in folder.glob("*.info")]
    assert ["gd a-b" in each for each in found] == [True, False]


def test_a_run_without_curves_is_one_sentence(make, run, tmp_path):
    with pytest.raises(BenchfwError, match="has no optimizer with a curve"):
        write_coco(summarize(run, []), run, [], tmp_path)
