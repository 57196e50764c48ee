"""A cache of the test's own, and a local server that plays the official host."""

import contextlib
import http.server
import os
import shutil
import ssl
import subprocess
import threading
import time
from dataclasses import dataclass, field

import pytest

from benchfw.data import download

# the tests of real files want the folder that every other test must not see
os.environ.setdefault("BENCHFW_DATA_AT_START", os.environ.get("BENCHFW_DATA", ""))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, no folders, no pauses."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BENCHFW_CACHE", str(folder))
    for variable in ("BENCHFW_DATA", "BENCHFW_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(download, "PAUSE", 0.0)
    return folder


@dataclass
class Host:
    """What the server gives and how; `requests` keeps what it was asked."""

    files: dict = field(default_factory=dict)
    requests: list = field(default_factory=list)
    cuts: int = 0
    ranges: bool = True
    delay: float = 0.0
    redirect: str = ""
    url: str = ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host = self.server.host
        host.requests.append((self.path, self.headers.get("Range")))
        time.sleep(host.delay)
        if host.redirect:
            self.send_response(302)
            self.send_header("Location", host.redirect)
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
        self.send_header("Content-Length", str(len(content) - first))
        self.send_header("ETag", '"v1"')
        self.end_headers()
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
    server.handle_error = lambda *_: None  # a client that refuses the certificate is no fault of the server
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
