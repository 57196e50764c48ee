"""Downloads from a host that may fail in every way, and files got by hand."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from benchfw import data
from benchfw.data import ArraySpec, Dataset, RawFile, content_hash
from benchfw.data.fetch import fetch_entry
from benchfw.errors import DataError

ROWS = "\n".join(f"0.{number:04d},0.5,{'R' if number % 2 else 'M'}" for number in range(2000))
ARRAYS = {
    "X": np.array([[float(f"0.{number:04d}"), 0.5] for number in range(2000)]),
    "y": np.where(np.arange(2000) % 2, -1, 1).astype(np.int8),
}


def read_rows(files):
    """Return X and y of "feature,feature,R or M" lines in a zip."""
    (path,) = files.values()
    with data.open_member(path, "rows.csv") as file:
        lines = [line.split(",") for line in file.read().decode("ascii").split()]
    labels = np.array([{"M": 1, "R": -1}[line[-1]] for line in lines], np.int8)
    return {"X": np.array([[float(word) for word in line[:-1]] for line in lines]), "y": labels}


def zipped(**files):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/"), text)
    return written.getvalue()


GOOD = zipped(**{"rows.csv": ROWS})


@pytest.fixture
def entry(cache, host, register):
    host.files["tiny.zip"] = GOOD
    found = Dataset(
        "tiny",
        "A tiny set",
        {"X": ArraySpec(("rows", 2), "float64"), "y": ArraySpec(("rows",), "int8")},
        files=(RawFile("tiny.zip", f"{host.url}/tiny.zip", hashlib.sha256(GOOD).hexdigest()),),
        loader=read_rows,
        twin="tiny-like",
    )
    register(found)
    return found


def without_checksum(entry):
    return replace(entry, files=(RawFile("tiny.zip", entry.files[0].url),))


def left_in(cache):
    """Return all files in the cache but the lock."""
    return sorted(
        str(each.relative_to(cache)) for each in cache.rglob("*") if each.is_file() and each.suffix != ".lock"
    )


def test_a_good_download_is_parsed_once_and_kept_with_its_checksums(entry, cache, host):
    path = fetch_entry(entry)
    assert path == cache / "tiny.npz"
    assert fetch_entry(entry) == path
    assert len(host.requests) == 1
    arrays = data.load("tiny")
    np.testing.assert_array_equal(arrays["X"], ARRAYS["X"])
    np.testing.assert_array_equal(arrays["y"], ARRAYS["y"])
    about = json.loads((cache / "tiny.json").read_text())
    assert about["content"] == content_hash(ARRAYS)
    assert about["checked"] == "sha256 of the download"
    assert about["files"]["tiny.zip"]["sha256"] == hashlib.sha256(GOOD).hexdigest()
    assert left_in(cache) == ["raw/tiny/tiny.zip", "tiny.json", "tiny.npz"]


def test_a_wrong_checksum_is_refused_and_the_file_removed(entry, cache, host):
    host.files["tiny.zip"] = GOOD + b"!"
    with pytest.raises(DataError, match=r"tiny\.zip is not the file in the catalog.*removed"):
        fetch_entry(entry)
    assert left_in(cache) == []


def test_without_a_checksum_of_the_file_the_content_is_checked(entry, cache):
    known = replace(without_checksum(entry), contents={content_hash(ARRAYS): "ours"}, sealed=True)
    fetch_entry(known)
    assert json.loads((cache / "tiny.json").read_text())["checked"] == "content hash: ours"


def test_another_content_than_the_only_right_one_is_refused_and_removed(entry, cache):
    sealed = replace(without_checksum(entry), contents={"0" * 64: "ours"}, sealed=True)
    with pytest.raises(DataError, match=r"content hash is \w{12}…, not 0{12}.*nothing was kept"):
        fetch_entry(sealed)
    assert left_in(cache) == []


def test_what_nothing_vouches_for_is_said_to_be_unchecked(entry, cache):
    fetch_entry(without_checksum(entry))
    assert json.loads((cache / "tiny.json").read_text())["checked"].startswith("shapes and types only")


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("checksum", [True, False])
def test_a_connection_cut_half_way_is_taken_up_again(entry, host, ranges, checksum):
    host.cuts, host.ranges = 2, ranges
    fetch_entry(entry if checksum else without_checksum(entry))
    np.testing.assert_array_equal(data.load("tiny")["X"], ARRAYS["X"])
    assert len(host.requests) == 3
    assert host.requests[1][1] == f"bytes={len(GOOD) // 2}-"


def test_a_connection_that_is_always_cut_leaves_nothing(entry, cache, host):
    host.cuts = 99
    with pytest.raises(DataError, match="the connection broke"):
        fetch_entry(without_checksum(entry))
    assert left_in(cache) == []


def test_a_missing_file_is_reported_with_address_place_and_stand_in(entry, host, cache):
    host.files.clear()
    with pytest.raises(DataError) as caught:
        fetch_entry(entry)
    message = str(caught.value)
    for part in ("404", f"{host.url}/tiny.zip", "BENCHFW_DATA", str(cache), "tiny.npz", "tiny-like"):
        assert part in message
    assert "\n" not in message
    assert len(host.requests) == 1
    assert left_in(cache) == []


def test_an_absent_host_is_reported_at_once(entry, cache):
    nobody = replace(entry, files=(RawFile("tiny.zip", "http://127.0.0.1:9/tiny.zip"),))
    with pytest.raises(DataError, match=r"127\.0\.0\.1 cannot be reached"):
        fetch_entry(nobody)


def test_offline_forbids_downloads(entry, host, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    with pytest.raises(DataError, match="BENCHFW_OFFLINE forbids downloads"):
        fetch_entry(entry)
    assert host.requests == []


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside", "C:\\outside"])
def test_an_archive_that_would_leave_its_folder_is_refused(entry, cache, host, name):
    host.files["tiny.zip"] = zipped(**{"rows.csv": ROWS, name: "bad"})
    with pytest.raises(DataError, match="would leave its folder, and is refused"):
        fetch_entry(without_checksum(entry))
    assert left_in(cache) == []


def test_a_file_that_is_not_what_its_name_says_is_refused(entry, cache, host):
    host.files["tiny.zip"] = b"<html>please log in</html>"
    with pytest.raises(DataError, match=r"the file for 'tiny' cannot be read as tiny.zip"):
        fetch_entry(without_checksum(entry))
    assert left_in(cache) == []


def test_plain_http_is_refused_but_on_this_machine(entry):
    plain = replace(entry, files=(RawFile("tiny.zip", "http://example.org/tiny.zip"),))
    with pytest.raises(DataError, match="is not https"):
        fetch_entry(plain)


@pytest.mark.parametrize("target", ["http://example.invalid/tiny.zip", "ftp://example.invalid/tiny.zip"])
def test_a_redirection_to_plain_http_is_refused_before_it_is_contacted(entry, host, monkeypatch, target):
    import requests

    host.redirect, asked, get = target, [], requests.get
    monkeypatch.setattr(requests, "get", lambda url, **options: asked.append(url) or get(url, **options))
    with pytest.raises(DataError, match=r"example.invalid/tiny.zip is not https"):
        fetch_entry(entry)
    assert asked == [entry.files[0].url]


def test_a_redirection_is_followed_but_not_for_ever(entry, host):
    host.redirects = 3
    fetch_entry(entry)
    host.redirects = 99
    with pytest.raises(DataError, match="redirected more than 10 times"):
        fetch_entry(entry, again=True)


def test_another_host_does_not_lead_to_this_machine(entry, secure_host, host, monkeypatch):
    other, certificate = secure_host
    other.redirect = entry.files[0].url
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    away = replace(entry, files=(RawFile("tiny.zip", f"{other.url}/tiny.zip"),))
    with pytest.raises(DataError, match="is not https"):
        fetch_entry(away)
    assert host.requests == []


@pytest.mark.parametrize("length", [True, False])
def test_a_file_much_larger_than_the_catalog_says_is_refused(entry, cache, host, length):
    host.length = length
    fetch_entry(replace(entry, size=len(GOOD) // 2 + 1))
    with pytest.raises(DataError, match=r"larger than the .* MB that it may have; nothing was kept"):
        fetch_entry(replace(entry, size=len(GOOD) // 3), again=True)


def test_a_download_without_length_and_without_end_is_given_up(entry, cache, host, monkeypatch):
    host.endless = True
    monkeypatch.setattr("benchfw.data.download.MOST_BYTES", 10_000_000)
    with pytest.raises(DataError, match="larger than the 10 MB that it may have"):
        fetch_entry(entry)
    assert left_in(cache) == []


@pytest.mark.parametrize(
    ("limit", "said"), [("PACE_SECONDS", "sent less than 60 kB in 0 s"), ("MOST_SECONDS", "after 0 hours")]
)
def test_a_host_that_sends_next_to_nothing_is_given_up(entry, cache, host, monkeypatch, limit, said):
    monkeypatch.setattr(f"benchfw.data.download.{limit}", 0.0)
    with pytest.raises(DataError, match=said):
        fetch_entry(entry)
    assert left_in(cache) == []


def test_the_lock_of_a_set_is_not_taken_through_a_link(entry, cache, tmp_path):
    cache.mkdir()
    (tmp_path / "mine").write_text("kept")
    (cache / ".tiny.lock").symlink_to(tmp_path / "mine")
    with pytest.raises(DataError, match="cannot be written"):
        fetch_entry(entry)
    assert (tmp_path / "mine").read_text() == "kept"


def test_https_wants_a_certificate_that_is_trusted(entry, secure_host, monkeypatch):
    host, certificate = secure_host
    host.files["tiny.zip"] = GOOD
    secure = replace(entry, files=(RawFile("tiny.zip", f"{host.url}/tiny.zip", entry.files[0].sha256),))
    with pytest.raises(DataError, match="localhost cannot be reached"):
        fetch_entry(secure)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    fetch_entry(secure)
    np.testing.assert_array_equal(data.load("tiny")["X"], ARRAYS["X"])


def test_again_downloads_what_is_here(entry, host):
    fetch_entry(entry)
    fetch_entry(entry, again=True)
    assert len(host.requests) == 2


def test_a_killed_process_leaves_nothing_that_is_taken_for_data(entry, cache):
    work = cache / ".tiny.tmp-old" / "tiny.npz"
    work.parent.mkdir(parents=True)
    work.write_bytes(b"half")
    half = cache / "raw" / "tiny" / "tmpabc"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    assert data.local_datasets() == {}
    fetch_entry(entry)
    assert left_in(cache) == ["raw/tiny/tiny.zip", "tiny.json", "tiny.npz"]


PLUGIN = """
import numpy as np
from benchfw import hookimpl
from benchfw.data import ArraySpec, Dataset, RawFile

TINY = Dataset(
    "tiny",
    "A tiny set",
    {{"X": ArraySpec(("rows", 2), "float64"), "y": ArraySpec(("rows",), "int8")}},
    files=(RawFile("tiny.zip", "{url}/tiny.zip", "{sha256}"),),
    loader=lambda files: {{"X": np.zeros((3, 2)), "y": np.ones(3, np.int8)}},
)

@hookimpl
def register_datasets(register):
    register("tiny", TINY)
"""


def test_two_processes_at_once_make_one_download_and_both_succeed(entry, host, tmp_path, cache):
    host.delay = 0.5
    plugin = tmp_path / "tiny_plugin.py"
    plugin.write_text(PLUGIN.format(url=host.url, sha256=entry.files[0].sha256))
    words = [sys.executable, "-m", "benchfw", "data", "fetch", "tiny", "--plugin", str(plugin)]
    both = [
        subprocess.Popen(words, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert str(cache / "tiny.npz") in out
        assert "sha256 of the download" in out
    assert len(host.requests) == 1


def test_a_file_got_by_hand_is_verified_and_kept(entry, tmp_path):
    mine = tmp_path / "download(1).zip"
    mine.write_bytes(GOOD)
    path = data.import_files("tiny", [mine])
    np.testing.assert_array_equal(data.load("tiny")["y"], ARRAYS["y"])
    assert json.loads(path.with_suffix(".json").read_text())["checked"] == "sha256 of the file"


def test_a_wrong_file_got_by_hand_is_refused(entry, tmp_path, cache):
    mine = tmp_path / "tiny.zip"
    mine.write_bytes(GOOD + b"!")
    with pytest.raises(DataError, match="is not the file in the catalog"):
        data.import_files("tiny", [mine])
    np.savez(tmp_path / "tiny.npz", X=np.ones((3, 5)), y=np.ones(3, np.int8))
    with pytest.raises(DataError, match=r"array 'X' is \(3, 5\) float64, not \(rows, 2\) float64"):
        data.import_files("tiny", [tmp_path / "tiny.npz"])
    assert left_in(cache) == []


def test_arrays_got_by_hand_are_taken_as_npz(entry, tmp_path, cache):
    np.savez(tmp_path / "any.npz", **ARRAYS)
    assert data.import_files("tiny", [tmp_path / "any.npz"]) == cache / "tiny.npz"


def test_a_set_of_several_files_wants_them_all(cache, tmp_path):
    (tmp_path / "a.csv").write_text("1\n")
    with pytest.raises(DataError, match=r"'grains' is made of a\.csv, b\.csv; give all of them"):
        data.import_files("grains", [tmp_path / "a.csv"])


def test_a_streamed_set_is_kept_as_memory_maps(entry, cache):
    def pieces(files):
        for start in (0, 3):
            yield {"X": np.full((3, 2), float(start)), "y": np.full(3, start, np.int8)}

    streamed = replace(entry, loader=pieces, streamed=True)
    path = fetch_entry(streamed)
    assert path == cache / "tiny"
    arrays = data.load("tiny")
    assert isinstance(arrays["X"], np.memmap)
    np.testing.assert_array_equal(arrays["y"], [0, 0, 0, 3, 3, 3])
    assert json.loads((cache / "tiny.json").read_text())["content"] == content_hash(arrays)


def test_a_cache_that_cannot_be_written_is_reported(entry, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BENCHFW_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"cannot be written.*BENCHFW_CACHE"):
        fetch_entry(entry)


def test_a_slow_line_that_is_often_cut_gets_there(cache, host):
    content = np.arange(2e5)
    host.files["many.bin"] = content.tobytes()
    host.cuts = 6  # more than the attempts that bring nothing
    entry = Dataset(
        "many",
        "Many numbers",
        {"x": ArraySpec((len(content),), "float64")},
        files=(RawFile("many.bin", f"{host.url}/many.bin"),),
        loader=lambda files: {"x": np.fromfile(files["many.bin"])},
    )
    fetch_entry(entry)
    np.testing.assert_array_equal(data.load("many")["x"], content)


def test_fetching_says_when_what_is_here_is_not_right(folder, host, tmp_path):
    np.savez(folder / "tiny.npz", X=np.ones((3, 3)), y=np.ones(3))
    plugin = tmp_path / "tiny_plugin.py"
    plugin.write_text(PLUGIN.format(url=host.url, sha256="0" * 64))
    words = [sys.executable, "-m", "benchfw", "data", "fetch", "tiny", "--plugin", str(plugin)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "replace the file" in done.stdout
