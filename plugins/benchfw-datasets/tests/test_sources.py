"""Data sets by the name of their host: a local server plays OpenML, the LIBSVM page and Hugging Face."""

from __future__ import annotations

import bz2
import http.server
import io
import json
import threading

import numpy as np
import pytest

from benchfw import data
from benchfw.errors import DataError
from benchfw_datasets.sources import huggingface, libsvm, openml

ARFF = """@relation flowers
@attribute height numeric
@attribute colour {red, green, blue}
@attribute scent {no, yes}
@attribute row numeric
@attribute class {rose, tulip}
@data
1.5,red,no,1,rose
2.5,blue,yes,2,tulip
0.5,green,no,3,rose
"""


@pytest.fixture
def host(cache, monkeypatch):
    """A server with pages by path; `asked` has the paths that were asked for."""
    pages, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            page = pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write(page or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    server.pages, server.asked = pages, asked
    server.url = f"http://127.0.0.1:{server.server_port}"
    for module in (openml, libsvm, huggingface):
        monkeypatch.setattr(module, "HOST", server.url)
    monkeypatch.setattr(huggingface, "SERVER", server.url)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def play_openml(host, number=7, **about):
    description = {
        "format": "ARFF",
        "url": f"{host.url}/data/flowers.arff",
        "default_target_attribute": "class",
        "row_id_attribute": "row",
        **about,
    }
    host.pages["/data/flowers.arff"] = ARFF.encode()
    host.pages[f"/api/v1/json/data/{number}"] = json.dumps({"data_set_description": description}).encode()
    listed = {"data": {"dataset": [{"did": number}]}}
    place = "/api/v1/json/data/list/data_name/{}/limit/20/status/active"
    host.pages[place.format("flowers")] = json.dumps(listed).encode()
    twice = {"data": {"dataset": [{"did": 1}, {"did": 2}]}}
    host.pages[place.format("iris")] = json.dumps(twice).encode()


def test_openml_gives_numbers_indicators_and_labels_and_is_asked_once(host):
    play_openml(host)
    arrays = data.load("openml:flowers")
    # blue, green, red; then whether there is a scent; the number of the row is left out
    assert arrays["X"].tolist() == [[1.5, 0, 0, 1, 0], [2.5, 1, 0, 0, 1], [0.5, 0, 1, 0, 0]]
    assert arrays["y"].tolist() == [-1, 1, -1]
    asked = len(host.asked)
    again = data.load("openml:flowers")
    assert np.array_equal(again["X"], arrays["X"])
    assert len(host.asked) == asked
    assert "openml:flowers" in data.local_datasets()
    assert data.verify("openml:flowers").fault == ""
    assert data.fingerprint("openml:flowers") == data.content_hash(arrays)
    assert data.content_hash(data.load("openml:7")) == data.content_hash(arrays)


@pytest.mark.parametrize("row", ["1.5,?,no,4,rose", "1.5,red,no,4,?", "?,red,no,4,rose"])
def test_missing_values_are_refused_in_numbers_words_and_labels(host, row):
    play_openml(host, row_id_attribute="row")
    host.pages["/data/flowers.arff"] = f"{ARFF}{row}\n".encode()
    with pytest.raises(DataError, match=r"missing values|nan in row 3"):
        data.load("openml:7")


def test_missing_dates_are_refused(host):
    play_openml(host)
    header = "@RELATION days\n@ATTRIBUTE day DATE yyyy-MM-dd\n@ATTRIBUTE class {a, b}\n@DATA\n"
    host.pages["/data/flowers.arff"] = f"{header}?,a\n2020-01-02,b\n".encode()
    with pytest.raises(DataError, match="column 'day' has missing values"):
        data.load("openml:7")


def test_a_question_mark_that_a_column_declares_is_a_word(host):
    play_openml(host)
    table = ARFF.replace("{red, green, blue}", "{red, green, blue, ?}")
    host.pages["/data/flowers.arff"] = f"{table}1.5,?,no,4,rose\n".encode()
    assert data.load("openml:7")["X"].shape[0] == 4


@pytest.mark.parametrize(
    ("name", "about", "message"),
    [
        ("openml:iris", {}, "OpenML has 2 active versions of 'iris'; write one of openml:1, openml:2"),
        ("openml:nothing", {}, "OpenML has no active data set 'nothing'"),
        ("openml:99", {}, "OpenML has no data set 99"),
        ("openml:7", {"format": "Sparse_ARFF"}, "comes as Sparse_ARFF; benchfw reads ARFF"),
        ("openml:7", {"default_target_attribute": "kind"}, "has no column 'kind' to predict, only height"),
        ("openml:", {}, "'openml:' names a source, not a data set; write openml:NAME"),
    ],
)
def test_what_openml_does_not_have_is_one_sentence(host, name, about, message):
    play_openml(host, **about)
    with pytest.raises(DataError, match=message):
        data.load(name)
    assert not data.local_datasets()


def test_libsvm_finds_the_list_the_compression_and_the_test_rows(host):
    host.pages["/binary.html"] = b'<a href="binary/toy.bz2">toy.bz2</a> <a href="binary/toy.t">toy.t</a>'
    host.pages["/multiclass.html"] = b'<a href="multiclass/three">three</a>'
    host.pages["/regression.html"] = b'<a href="regression/line">line</a>'
    host.pages["/binary/toy.bz2"] = bz2.compress(b"+1 1:0.5 3:2\n-1 2:1\n")
    host.pages["/binary/toy.t"] = b"-1 4:7\n"
    host.pages["/multiclass/three"] = b"1 1:1\n2 1:2\n3 1:3\n"
    host.pages["/regression/line"] = b"0.5 1:1\n1.5 1:3\n"
    toy = data.load("libsvm:toy")
    assert toy["x_train"].tolist() == [[0.5, 0, 2, 0], [0, 1, 0, 0]]
    assert toy["x_test"].tolist() == [[0, 0, 0, 7]]
    assert (toy["y_train"].tolist(), toy["y_test"].tolist()) == ([1, -1], [-1])
    assert data.load("libsvm:multiclass/three")["y"].tolist() == [1, 2, 3]
    assert data.load("libsvm:line")["y"].tolist() == [0.5, 1.5]
    with pytest.raises(DataError, match="no data set 'absent' at"):
        data.load("libsvm:absent")
    with pytest.raises(
        DataError, match=r"'libsvm:cubic/toy' is not listed; write libsvm:NAME, or binary/NAME"
    ):
        data.load("libsvm:cubic/toy")


def play_huggingface(host, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), buffer)
    host.pages["/0.parquet"] = buffer.getvalue()
    rows = [
        {"config": "default", "split": each, "url": f"{host.url}/0.parquet"}
        for each in ("train", "train", "test")
    ]
    host.pages["/parquet?dataset=owner%2Fsky"] = json.dumps({"parquet_files": rows}).encode()


def test_huggingface_gives_all_files_of_a_split(host):
    play_huggingface(host, height=[1, 2], kind=["a", "b"], label=["no", "yes"])
    arrays = data.load("hf:owner/sky/train")
    assert arrays["X"].tolist() == [[1, 0], [2, 1]] * 2
    assert arrays["y"].tolist() == [-1, 1, -1, 1]
    assert data.load("hf:owner/sky/test:height")["y"].tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("hf:owner/sky/dev", {"a": [1], "y": [1]}, "has no split 'dev'; it has test, train"),
        ("hf:owner/sea/train", {"a": [1], "y": [1]}, "Hugging Face has no data set 'owner/sea'"),
        ("hf:owner/sky/more/train", {"a": [1], "y": [1]}, "write hf:owner/sky/default/train"),
        ("hf:sky", {"a": [1], "y": [1]}, "does not name a split; write hf:NAME/SPLIT"),
        ("hf:owner/sky/train", {"a": [1], "b": [1]}, "write 'hf:owner/sky/train:COLUMN' with one of a, b"),
        ("hf:owner/sky/train", {"a": [[1]], "y": [1]}, "column 'a' .* has the type list"),
        ("hf:owner/sky/train", {"a": [None, 1], "y": [1, 2]}, "column 'a' .* has 2 missing values"),
        ("hf:owner/sky/train", {"a": [*map(str, range(200))], "y": [1] * 200}, "is text, with 200 different"),
    ],
)
def test_what_huggingface_does_not_have_is_one_sentence(host, name, columns, message):
    play_huggingface(host, **columns)
    with pytest.raises(DataError, match=message):
        data.load(name)
    assert not data.local_datasets()


def test_offline_it_says_where_the_set_is_and_where_to_put_it(cache, monkeypatch):
    monkeypatch.setenv("BENCHFW_OFFLINE", "1")
    with pytest.raises(DataError) as raised:
        data.load("openml:credit-g")
    assert "BENCHFW_OFFLINE forbids downloads: https://www.openml.org/search?type=data&q=credit-g" in str(
        raised.value
    )
    assert "put openml%3Acredit-g.npz into a folder of BENCHFW_DATA" in str(raised.value)
    with pytest.raises(DataError, match="the catalog has no data set 'kaggle:titanic'"):
        data.get_dataset("kaggle:titanic")
