"""A cache and a catalog of the test's own, and a local server that plays the official host."""

import contextlib
import http.server
import shutil
import ssl
import subprocess
import threading
import time
from dataclasses import dataclass, field

import numpy as np
import pytest

from benchfw import DatasetName
from benchfw.data import ArraySpec, Dataset, RawFile
from benchfw.loading import Plugin
from benchfw.registry import Entry

HOME = "https://flowers.example.org"


def make_flowers(rows: int = 50, seed: int = 0):
    if rows < 1:
        raise ValueError("rows must be at least 1")
    rng = np.random.default_rng(seed)
    return {"X": rng.standard_normal((rows, 4)), "y": np.where(np.arange(rows) % 2, 1, -1).astype(np.int8)}


def make_walk(rows: int = 100, source: DatasetName = "flowers", seed: int = 0):
    return {"x": np.arange(rows) + seed, "y": np.arange(rows) % 7}


def stream_walk(rows: int = 100, source: DatasetName = "flowers", seed: int = 0):
    whole = make_walk(rows, source, seed)
    for start in range(0, rows, 30):
        yield {key: values[start : start + 30] for key, values in whole.items()}


FLOWERS = Dataset(
    "flowers",
    "Flowers of two kinds",
    {
        "X": ArraySpec((50, 4), "float64"),
        "y": ArraySpec((50,), "int8"),
        "train_idx": ArraySpec((40,), "int32", optional=True),
    },
    files=(RawFile("flowers.csv", f"{HOME}/flowers.csv"),),
    loader="flowers:read",
    twin="flowers-like",
    split=("heads", 20),
)
DATASETS = (
    FLOWERS,
    Dataset("flowers-like", "synthetic: flowers", make=make_flowers),
    Dataset(
        "walk-like",
        "synthetic: a walk",
        make=make_walk,
        stream=stream_walk,
        defaults={"rows": 90},
    ),
    Dataset(
        "grains",
        "Grains in two files; one content only",
        {"x": ArraySpec(("grains",), "float64")},
        files=(RawFile("a.csv", f"{HOME}/a.csv"), RawFile("b.csv", f"{HOME}/b.csv")),
        loader="grains:read",
        contents={"0" * 64: "the first edition"},
        sealed=True,
        lengths={"grains": (7, 9)},
    ),
    Dataset(
        "songs",
        "Songs that a person must ask for",
        {"x": ArraySpec((3,), "float64")},
        files=(RawFile("songs.csv"),),
        loader="songs:read",
        by_hand="write to the singer",
        twin="songs-like",
    ),
    Dataset("votes", "Votes", split=("fraction", 10)),
    Dataset("years", "Years", split=("first", 30)),
    Dataset("weather", "Weather", split=("gaps", 17_520, 59, 10)),
    Dataset("letters", "Letters", split=("fraction", 50)),
)


@pytest.fixture
def register(monkeypatch):
    """Return a function that makes data sets the whole catalog, as if one plugin registered them."""

    def replace_catalog(*datasets):
        plugin = Plugin("garden", "garden", "benchfw-garden", "1.0", None)
        entries = {each.name: Entry("dataset", each.name, each, plugin) for each in datasets}
        monkeypatch.setattr("benchfw.data.catalog._registered", lambda: entries)

    return replace_catalog


@pytest.fixture
def cache(tmp_path, monkeypatch, register):
    """An empty cache, no folders, the catalog of above, no pauses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BENCHFW_CACHE", str(folder))
    for variable in ("BENCHFW_DATA", "BENCHFW_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("benchfw.data.download.PAUSE", 0.0)
    register(*DATASETS)
    return folder


@pytest.fixture
def folder(cache, tmp_path, monkeypatch):
    """The one folder of BENCHFW_DATA, empty."""
    path = tmp_path / "folder"
    path.mkdir()
    monkeypatch.setenv("BENCHFW_DATA", str(path))
    return path


@dataclass
class Host:
    """What the server gives and how; `requests` keeps what it was asked."""

    files: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    cuts: int = 0
    ranges: bool = True
    delay: float = 0.0
    redirect: str = ""
    redirects: int = 0
    length: bool = True
    endless: bool = False
    url: str = ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host = self.server.host
        host.requests.append((self.path, self.headers.get("Range")))
        time.sleep(host.delay)
        if host.redirect or host.redirects:
            host.redirects -= 1
            self.send_response(302)
            self.send_header("Location", host.redirect or self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = host.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_error(404, "Not Found")
            return
        first = 0
        if host.ranges and self.headers.get("Range") and self.headers.get("If-Range") == '"v1"':
            first = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if first else 200)
        if host.length and not host.endless:
            self.send_header("Content-Length", str(len(content) - first))
        else:
            self.close_connection = True
        self.send_header("ETag", '"v1"')
        self.end_headers()
        while host.endless:
            self.wfile.write(bytes(1 << 16))
        if host.cuts:
            host.cuts -= 1
            self.wfile.write(content[first : first + (len(content) - first) // 2])
            self.close_connection = True
            return
        self.wfile.write(content[first:])

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    address = "http://127.0.0.1" if context is None else "https://localhost"
    server.host = Host(url=f"{address}:{server.server_port}")
    server.handle_error = lambda *_: None  # a client may refuse the certificate
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.host
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def host():
    with serving() as found:
        yield found


@pytest.fixture
def secure_host(tmp_path):
    """The host over https, and the certificate that it signed itself."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, and no certificate can be made")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]
    subprocess.run(["openssl", *words, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving(context) as found:
        yield found, certificate
