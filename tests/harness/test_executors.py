"""What a local executor tells its workers."""

import pytest

from benchfw.errors import BenchfwError
from benchfw.harness.events import Finished
from benchfw.harness.workers import process
from benchfw.harness.workers.executor import LocalExecutor


@pytest.fixture
def outcome_of(toys, make_trial):
    def run(**options):
        executor = LocalExecutor((str(toys),), **options)
        try:
            return next(each.outcome for each in executor.run([make_trial()]) if isinstance(each, Finished))
        finally:
            executor.close()

    return run


def test_peak_memory_is_known_only_where_it_is_asked_for(outcome_of):
    assert 1e6 < outcome_of(resources=True).peak_memory < 1e9
    assert outcome_of().peak_memory is None


def test_a_worker_of_a_revision_that_speaks_otherwise_is_refused(outcome_of, monkeypatch):
    monkeypatch.setattr(process, "PROTOCOL", 99)
    with pytest.raises(BenchfwError, match="workers of the other revision do not understand this one"):
        outcome_of()
