"""What was parsed is kept between processes, is never stale, and a damaged cache is as good as none."""

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchfw.sources import parse
from benchfw.sources.parse_cache import ParseCache

SOURCE = """
import a.b
from . import c as d
def __getattr__(name):
    import e
    return "f:g"
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "cache.sqlite"


@pytest.fixture
def read(path, tmp_path, monkeypatch):
    """Return a function that reads a source as a new process would, and whether it had to parse it."""
    trees = []
    parse_tree = parse._tree
    monkeypatch.setattr(parse, "_tree", lambda content: trees.append(content) or parse_tree(content))
    monkeypatch.setattr(parse, "_parsed", {})

    def read_source(text):
        file = tmp_path / "source.py"
        file.write_text(text)
        monkeypatch.setattr(parse, "_cache", ParseCache(lambda: path))
        parse._parsed.clear()
        trees.clear()
        found = parse.parse_file(str(file)), parse.attributes_used(str(file), "a")
        parse.save_parsed()
        return found, bool(trees)

    return read_source


def test_a_source_is_parsed_by_the_first_process_alone(read):
    first, parsed = read(SOURCE)
    assert parsed
    assert read(SOURCE) == (first, False)
    assert first[0].lazy is not None


def test_one_byte_another_parser_or_another_python_has_answers_of_its_own(read, monkeypatch):
    (first, _), _ = read(SOURCE)
    (other, _), parsed = read(SOURCE.replace("a.b", "a.c"))
    assert parsed
    assert other != first
    monkeypatch.setattr(parse, "_PARSER", "another")
    assert read(SOURCE)[1]


def test_a_cache_with_any_part_damaged_gives_no_wrong_answer_and_is_written_anew(path, read):
    first, _ = read(SOURCE)
    whole = path.read_bytes()
    for start in range(0, len(whole), 128):
        path.write_bytes(whole[:start] + b"\xff" * 16 + whole[start + 16 :])
        assert read(SOURCE)[0] == first, start
        read(SOURCE)
        assert read(SOURCE) == (first, False)
    for content in (b"", b"not a database " * 100, whole[:5000]):
        path.write_bytes(content)
        assert read(SOURCE)[0] == first
        read(SOURCE)
        assert read(SOURCE) == (first, False)


@pytest.mark.parametrize("value", [None, b"\xff", 5, "", "no checksum"])
def test_a_value_that_no_cache_writes_is_as_good_as_none(path, read, value):
    first, _ = read(SOURCE)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE other AS SELECT key, value FROM answer")  # its columns have no type
        database.execute("DROP TABLE answer")
        database.execute("ALTER TABLE other RENAME TO answer")
        database.execute("UPDATE answer SET value = ?", (value,))
        database.commit()
    assert read(SOURCE) == (first, True)


def test_an_answer_under_another_key_is_not_believed(path):
    cache = ParseCache(lambda: path)
    cache.put("one", [1])
    cache.save()
    forged = ParseCache(lambda: path)
    forged.get("one")
    forged._stored["two"] = forged._stored["one"]
    assert (forged.get("one"), forged.get("two")) == ([1], None)


def test_a_cache_that_cannot_be_written_is_as_good_as_none(tmp_path, read, monkeypatch):
    (tmp_path / "folder").write_text("a file where the folder would be")
    first, _ = read(SOURCE)
    assert read(SOURCE) == (first, True)

    def no_home():
        raise RuntimeError("no home")

    cache = ParseCache(no_home)
    cache.put("key", 1)
    cache.save()
    assert cache.get("key") is None


def test_the_newest_answers_are_kept(path, monkeypatch):
    monkeypatch.setattr("benchfw.sources.parse_cache.KEPT", 3)
    for number in range(5):
        cache = ParseCache(lambda: path)
        cache.put(str(number), number)
        cache.save()
    cache = ParseCache(lambda: path)
    assert [cache.get(str(number)) for number in range(5)] == [None, None, 2, 3, 4]


def test_many_may_write_at_once_and_the_file_stays_whole(path):
    def work(number):
        cache = ParseCache(lambda: path)
        for turn in range(5):
            cache.put(f"{number} {turn}", [number, turn])
            cache.save()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    cache = ParseCache(lambda: path)
    found = [cache.get(f"{number} {turn}") for number in range(8) for turn in range(5)]
    assert {str(each) for each in found} <= {"None", *(str([n, t]) for n in range(8) for t in range(5))}
    assert sum(each is not None for each in found) > 20
    assert list(path.parent.iterdir()) == [path]
