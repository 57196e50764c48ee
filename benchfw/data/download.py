"""Downloads one file with pooch: https only, checksum, resumed when cut, placed only when whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from benchfw.data.dataset import RawFile
from benchfw.errors import DataError

if TYPE_CHECKING:
    import requests

Progress = Callable[[str, int, int | None], None]

ATTEMPTS = 4
PAUSE = 1.0
TIMEOUT = (5.0, 30.0)  # seconds to connect, and between bytes
CHUNK = 1 << 18
LOCAL = ("127.0.0.1", "localhost", "::1")


class Unreachable(Exception):
    """A file that cannot be downloaded now; the message is the reason."""


class _Interrupted(Exception):
    """A connection that ended before the file did."""


def download(file: RawFile, folder: Path, progress: Progress | None = None) -> Path:
    """Return the file in the folder, downloaded if it is not there; a wrong checksum is a DataError.

    Bytes go to a temporary name in the same folder and are renamed when they are whole and right.
    """
    import pooch
    import requests
    from urllib3.exceptions import HTTPError, ProtocolError

    pooch.get_logger().setLevel("ERROR")
    url = file.url or ""
    known = f"sha256:{file.sha256}" if file.sha256 else None
    fetch = _Download(file.name, progress)
    try:
        path = pooch.retrieve(url, known, fname=file.name, path=folder, downloader=fetch)
    except (_Interrupted, ProtocolError) as fault:
        raise Unreachable("the connection broke") from fault
    except (requests.exceptions.RequestException, HTTPError) as fault:
        raise Unreachable(_reason(fault, url)) from fault
    except OSError as fault:
        raise DataError(
            f"{url} cannot be written to {folder} ({fault}); free some space or set another cache"
        ) from None
    except ValueError:
        if not fetch.complete:
            raise
        # pooch has nothing else to say about a file that came whole
        raise DataError(
            f"{url} is not the file in the catalog: its sha256 is not {file.sha256}; "
            "it was removed, nothing was kept"
        ) from None
    return Path(path)


class _Download:
    """What pooch calls to fill its temporary file."""

    def __init__(self, name: str, progress: Progress | None) -> None:
        self.name = name
        self.progress = progress or (lambda *_: None)
        self.version = ""
        self.complete = False

    def __call__(self, url: str, output_file: Any, _pooch: Any) -> None:
        import requests
        from urllib3.exceptions import HTTPError

        path = Path(output_file)
        path.write_bytes(b"")
        attempt = 0
        while True:
            before = path.stat().st_size
            try:
                self._continue(url, path)
            except requests.exceptions.HTTPError as fault:
                if fault.response is not None and fault.response.status_code < 500:
                    raise  # asking again would not help
            except (
                _Interrupted,
                requests.exceptions.ConnectionError,
                requests.exceptions.Timeout,
                HTTPError,
            ):
                # a host that never answered is not asked again: offline must be reported at once
                if not path.stat().st_size:
                    raise
            else:
                self.complete = True
                return
            attempt = 1 if path.stat().st_size > before else attempt + 1  # a bad line may still get there
            if attempt >= ATTEMPTS:
                raise _Interrupted
            time.sleep(PAUSE * attempt)

    def _continue(self, url: str, path: Path) -> None:
        """Get what is missing of the file, from the start if the host cannot do otherwise."""
        import requests

        received = path.stat().st_size
        # compressed on the way, a length would not be the file's
        headers = {"Accept-Encoding": "identity"}
        if received and self.version:
            headers |= {"Range": f"bytes={received}-", "If-Range": self.version}
        with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as response:
            for each in (*response.history, response):
                refuse_insecure(each.url)
            if response.status_code != requests.codes.partial_content:
                received = 0
            response.raise_for_status()
            self.version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            length = response.headers.get("Content-Length")
            total = received + int(length) if length is not None else None
            with path.open("r+b") as file:
                file.truncate(received)
                file.seek(received)
                for chunk in response.raw.stream(CHUNK, decode_content=False):
                    received += file.write(chunk)
                    self.progress(self.name, received, total)
        if total is not None and received != total:
            raise _Interrupted


def refuse_insecure(url: str) -> None:
    """Raise DataError unless an address is https, or on this machine."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL):
        raise DataError(f"{url} is not https; nothing is downloaded from it")


def _reason(fault: Exception, url: str) -> str:
    response: requests.Response | None = getattr(fault, "response", None)
    if response is not None:
        return f"the host answered {response.status_code} {response.reason}"
    return f"{urlsplit(url).hostname} cannot be reached"
