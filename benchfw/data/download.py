"""Downloads one file with pooch: https only, checksum, limits, resumed when cut, placed only when whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

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
MOST_REDIRECTS = 10
MOST_BYTES = 50 * 10**9  # of a file whose size the catalog does not know
REPACKED = 2  # times the size that it knows: a host may have packed the file anew
MOST_ANSWER = 10**7  # bytes of a page that says where files are
NO_PAGE = (404, 412)  # 412: how OpenML answers
MOST_SECONDS = 24 * 3600.0
PACE_SECONDS, PACE_BYTES = 60.0, 60_000  # a host that sends less in that time is given up


class Unreachable(Exception):
    """A file that cannot be downloaded now; the message is the reason."""


class _Interrupted(Exception):
    """A connection that ended before the file did."""


def download(file: RawFile, folder: Path, progress: Progress | None = None, size: int = 0) -> Path:
    """Return the file in the folder, downloaded if it is not there; a wrong checksum is a DataError.

    Bytes go to a temporary name in the same folder and are renamed when they are whole and right. `size` is
    what the catalog says of it, 0 where it says nothing; a file that is much larger is refused.
    """
    import pooch
    import requests
    from urllib3.exceptions import HTTPError, ProtocolError

    pooch.get_logger().setLevel("ERROR")
    url = file.url or ""
    known = f"sha256:{file.sha256}" if file.sha256 else None
    fetch = _Download(file.name, progress, REPACKED * size or MOST_BYTES)
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


def ask(url: str) -> bytes | None:
    """Return the text at an address that says where files are, or None if the server answers "not found"."""
    import requests

    refuse_insecure(url)
    try:
        with _get(url, {"Accept": "application/json"}) as response:
            if response.status_code in NO_PAGE:
                return None
            response.raise_for_status()
            answer: bytes = response.raw.read(MOST_ANSWER + 1, decode_content=True)
    except requests.exceptions.RequestException as fault:
        raise Unreachable(_reason(fault, url)) from fault
    if len(answer) > MOST_ANSWER:
        raise Unreachable(f"{urlsplit(url).hostname} answered with more than {MOST_ANSWER / 1e6:g} MB")
    return answer


class _Download:
    """What pooch calls to fill its temporary file."""

    def __init__(self, name: str, progress: Progress | None, most: int) -> None:
        self.name = name
        self.progress = progress or (lambda *_: None)
        self.most = most
        self.version = ""
        self.complete = False
        self._began = self._paced = time.monotonic()
        self._since_paced = 0

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
        with _get(url, headers) as response:
            if response.status_code != requests.codes.partial_content:
                received = 0
            response.raise_for_status()
            self.version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            length = response.headers.get("Content-Length", "")
            total = received + int(length) if length.isdecimal() else None
            self._check_size(url, total or 0)
            with path.open("r+b") as file:
                file.truncate(received)
                file.seek(received)
                # what has come; read() would wait for all of a chunk
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    received += file.write(chunk)
                    self._check_size(url, received)
                    self._check_pace(len(chunk))
                    self.progress(self.name, received, total)
        if total is not None and received != total:
            raise _Interrupted

    def _check_size(self, url: str, size: int) -> None:
        if size > self.most:
            raise DataError(
                f"{url} is larger than the {self.most / 1e6:,.3g} MB that it may have; nothing was kept"
            )

    def _check_pace(self, new: int) -> None:
        """Raise Unreachable if the file would come too late to be of use."""
        now = time.monotonic()
        self._since_paced += new
        if now - self._began > MOST_SECONDS:
            raise Unreachable(f"the file was not complete after {MOST_SECONDS / 3600:g} hours")
        if now - self._paced > PACE_SECONDS:
            if self._since_paced < PACE_BYTES:
                raise Unreachable(f"the host sent less than {PACE_BYTES / 1e3:g} kB in {PACE_SECONDS:g} s")
            self._paced, self._since_paced = now, 0


def _get(url: str, headers: Mapping[str, str]) -> requests.Response:
    """Return the answer of an address, and of those that it leads to, each checked before it is contacted."""
    import requests

    for _ in range(MOST_REDIRECTS):
        response = requests.get(url, stream=True, timeout=TIMEOUT, headers=headers, allow_redirects=False)
        if not response.is_redirect:
            return response
        response.close()
        target = urljoin(url, response.headers["Location"])
        refuse_insecure(target, local=_is_local(url))
        url = target
    raise Unreachable(f"the host redirected more than {MOST_REDIRECTS} times")


def refuse_insecure(url: str, *, local: bool = True) -> None:
    """Raise DataError unless an address is https, or, where that is allowed, on this machine."""
    if urlsplit(url).scheme != "https" and not (local and _is_local(url)):
        raise DataError(f"{url} is not https; nothing is downloaded from it")


def _is_local(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname in LOCAL


def _reason(fault: Exception, url: str) -> str:
    response: requests.Response | None = getattr(fault, "response", None)
    if response is not None:
        return f"the host answered {response.status_code} {response.reason}"
    return f"{urlsplit(url).hostname} cannot be reached"
