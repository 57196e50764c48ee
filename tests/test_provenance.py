"""A run and its environment."""

import json

import pytest

from benchfw.provenance import Changes, Environment, Machine, Project, Run


def test_a_run_counts_its_faults(tmp_path):
    counts = {"done": 5, "diverged": 2, "failed": 3, "timeout": 1, "skipped": 4}
    assert Run(1, "s", "t", tmp_path, "now", counts=counts).faults == 4


def test_an_environment_comes_back_from_json():
    environment = Environment(
        machine=Machine(processor="Example 3000", cores=8, load=0.5),
        project=Project("0" * 40, changed=False),
        changes=Changes("gd", ("numpy",), 3, quick=True),
        plugins=("mine.py",),
        backends={"cupy": {"unavailable": "no GPU"}},
    )
    assert Environment.from_json(json.loads(json.dumps(environment.to_json()))) == environment
    assert environment.absent_backends == {"cupy": "no GPU"}


@pytest.mark.parametrize(
    "change",
    [
        {"threads": "2"}, {"odd": 1}, {"plugins": None}, {"machine": {"cores": "8"}}, {"machine": []},
        {"changes": {"quick": 5}}, {"changes": {"odd": 1}}, {"changes": {"repetitions": -1}},
    ],
)  # fmt: skip
def test_an_environment_that_no_benchfw_wrote_is_refused(change):
    with pytest.raises(ValueError, match="does not say where and how"):
        Environment.from_json({**Environment().to_json(), **change})
    with pytest.raises(ValueError, match="does not say where and how"):
        Environment.from_json({})
