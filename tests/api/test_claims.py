"""benchfw.compare decides claims."""

from pathlib import Path

import pytest

import benchfw

pytestmark = pytest.mark.usefixtures("folder")


CLAIM = {
    "says": "fast is fast",
    "method": "fast",
    "than": "slow",
    "quantity": "cost to target",
    "ratio": {"below": 0.5},
}


def compare_paces(tmp_path, **options):
    plugin = Path(__file__).parents[1] / "plugins" / "paces.py"
    methods = {"slow": {"use": "shrink"}, "fast": {"use": "shrink", "pace": 0.3}}
    usual = {"target": {"gap": 1e-3}, "store": tmp_path / "s.sqlite", "plugins": [str(plugin)], "jobs": 0}
    return benchfw.compare("slope", methods, **usual | {"replay": False} | options)


def test_compare_decides_claims_and_its_suite_file_has_them(tmp_path):
    result = compare_paces(tmp_path, claims=[CLAIM, {"says": "taste", "untestable": "no number"}])
    found = result.claims
    assert list(found.standing) == ["holds", "not testable"]
    assert found.low[0] < found.estimate[0] < found.high[0] < 0.5
    assert "fast is fast" in repr(result).splitlines()[1]
    (tmp_path / "c.toml").write_text(result.to_toml())
    again = benchfw.run(tmp_path / "c.toml", store=tmp_path / "s.sqlite", jobs=0, replay=False)
    assert again.reused == 10
    assert list(again.claims.hash) == list(found.hash)
    assert list(again.claims.registered) == list(found.registered)
    assert len(compare_paces(tmp_path).claims) == 0


def test_claims_about_a_target_at_which_runs_start_are_not_testable(tmp_path):
    def stop(problem, rng):
        yield problem.start()
        raise ValueError("no step")

    flat = benchfw.problem(value=lambda x: float(x @ x), grad=lambda x: 2 * x, start=[1.0, 1.0])
    alone = {"method": "stop"}
    said = [
        alone | {"reaches": True},
        alone | {"reaches": False},
        alone | {"quantity": "cost to target", "value": {"below": 1}},
        alone | {"quantity": "cost to target", "than": "other", "ratio": {"below": 1}},
        alone | {"quantity": "cost to target", "than": "other", "difference": {"below": 1}},
        {"quantity": "iterations to target", "order": ["stop", "other"]},
    ]
    claims = [{"says": f"claim {number}", **each} for number, each in enumerate(said)]
    options = {"target": {"gap": 1e-3}, "store": tmp_path / "s.sqlite", "jobs": 0, "replay": False}
    result = benchfw.compare(flat, {"stop": stop, "other": stop}, claims=claims, **options)
    assert set(result.claims.standing) == {"not testable"}
    assert set(result.claims.reason) == {"the first answer meets the target in every run of 'stop'"}
