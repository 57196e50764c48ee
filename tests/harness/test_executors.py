"""What a local executor tells its workers."""

from types import SimpleNamespace

import pytest

from benchfw.errors import BenchfwError
from benchfw.harness.events import Finished
from benchfw.harness.workers import process, surroundings
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


def test_what_a_distribution_lists_is_a_library_wherever_it_lies(tmp_path, monkeypatch):
    (tmp_path / "tool.py").write_text("")
    (tmp_path / "mine.py").write_text("")
    metadata = tmp_path / "tool-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tool\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("\ntool.py,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    surroundings._installed.cache_clear()
    modules = {name: SimpleNamespace(__file__=str(tmp_path / f"{name}.py")) for name in ("tool", "mine")}
    assert surroundings.is_library("tool", modules["tool"])
    assert not surroundings.is_library("mine", modules["mine"])
