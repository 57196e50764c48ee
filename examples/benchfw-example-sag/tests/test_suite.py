"""The suite of this package runs."""

import benchfw


def test_the_suite_runs_and_every_trial_ends_well(tmp_path):
    run = benchfw.run("example-sag", store=tmp_path / "store.sqlite", quick=True)
    assert set(run.counts) <= {"done", "reached", "diverged"}
