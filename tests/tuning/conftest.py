"""Runs suites that tune, in this process."""

import pytest

import benchfw
from benchfw import Log


@pytest.fixture
def tune(toys, tmp_path):
    """Return a function that runs a suite that tunes in this process, and returns its result."""

    def run(*methods, plugins=(), store="store.sqlite", fresh=False, **suite):
        tables = {
            "repetitions": 3,
            "budget": {"iterations": 200},
            "target": {"gap": 1e-6},
            "tune": {"trials": 8, "repetitions": 2},
            "problem": [{"use": "bowl"}],
            "optimizer": list(methods or ({"use": "slide", "step": Log(0.01, 1.9)},)),
            **suite,
        }
        files = [str(toys), *map(str, plugins)]
        return benchfw.run(tables, plugins=files, store=tmp_path / store, jobs=0, replay=False, fresh=fresh)

    return run
