"""A real Chromium without a window, spoken to over its debugging pipe: no driver and no package needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any, Self

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE = 60.0  # seconds to wait for an answer: a busy machine is slow

# Chromium reads commands from the file descriptor 3 and answers on 4
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 10) for word in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""
_WORDS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip


class Chromium:
    """A browser with a fresh profile; use it as a context manager."""

    def __init__(self) -> None:
        if PROGRAM is None:
            raise FileNotFoundError("no chromium on the path")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        words = [sys.executable, "-c", _START, str(theirs_in), str(theirs_out), PROGRAM, *_WORDS]
        self._process = subprocess.Popen(
            [*words, f"--user-data-dir={self._profile.name}"],
            pass_fds=(theirs_in, theirs_out),
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._last = 0
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("Browser.close")
        self._process.wait(PATIENCE)
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def open(self, place: Path | str, width: int = 1400, height: int = 1000) -> Page:
        """Open a file or an address in a page of its own and wait until it is loaded."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask("Performance.enable", timeDomain="threadTicks")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
        page.ask("Emulation.setDeviceMetricsOverride", **size)
        page.prefer("light")
        page.ask("Page.navigate", url=place.resolve().as_uri() if isinstance(place, Path) else place)
        while not page.loaded:
            self._hear(monotonic() + PATIENCE)
        return page

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come before it are noted."""
        self._last += 1
        command = {"id": self._last, "method": method, "params": params}
        if session is not None:
            command["sessionId"] = session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        ends = monotonic() + PATIENCE
        while True:
            answer = self._hear(ends)
            if answer.get("id") == command["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result

    def _hear(self, ends: float) -> dict[str, Any]:
        """Return the next message."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, ends - monotonic()))
            read = os.read(self._in, 1 << 20) if ready else b""
            if not read:
                raise TimeoutError("chromium does not answer")
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        if message.get("sessionId") in self._pages and "method" in message:
            self._pages[message["sessionId"]].note(message["method"], message["params"])
        return message


class Page:
    """One page: what its console said, what it asked for, and what it has drawn."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser, self._session = browser, session
        self.loaded = False
        self.console: list[str] = []
        self.requests: list[str] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self._browser.ask(method, self._session, **params)

    def note(self, method: str, params: dict[str, Any]) -> None:
        """Keep what an event tells."""
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(each.get("value", "")) for each in params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.console.append(params["exceptionDetails"]["text"])
        elif method == "Log.entryAdded":
            self.console.append(params["entry"]["text"])

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        ends = monotonic() + PATIENCE
        while not self.evaluate(f"new Promise((done) => setTimeout(() => done(Boolean({condition})), 20))"):
            if monotonic() > ends:
                raise TimeoutError(f"still waiting for: {condition}")

    def cpu_seconds(self) -> float:
        """Return the processor time that the page has taken so far: the same on a busy machine."""
        found = {each["name"]: each["value"] for each in self.ask("Performance.getMetrics")["metrics"]}
        return float(found["TaskDuration"])

    def prefer(self, scheme: str) -> None:
        """Be a reader who likes pages 'light' or 'dark'."""
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path: Path) -> None:
        """Write the whole page as PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        """Close the page."""
        self.ask("Page.close")
