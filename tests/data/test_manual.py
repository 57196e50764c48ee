"""What docs/data.md shows is what happens."""

import re
import tomllib
from pathlib import Path

MANUAL = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", MANUAL, re.DOTALL)


def test_the_python_of_the_manual_runs(cache, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    names = {}
    for block in blocks("python"):
        exec(compile(block, "docs/data.md", "exec"), names)
    assert names["SURVEY"].fetchable


def test_the_suites_of_the_manual_name_data_sets_that_there_are(cache):
    from benchfw import data

    for block in blocks("toml"):
        for table in tomllib.loads(block)["problem"]:
            named = table["dataset"]
            for name in named if isinstance(named, list) else [named]:
                assert data.dataset(name)


def test_the_content_hash_is_documented_as_it_is(cache):
    assert "`name NUL dtype NUL shape NUL`" in MANUAL
