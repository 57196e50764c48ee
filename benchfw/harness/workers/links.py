"""What connects a parent with one worker: requests go down, replies and standard error come up.

A supervised worker writes to files that both have open: there its words survive it, and the parent need not
be woken for each; a byte in a pipe, the bell, asks the parent to read. Without a supervisor nothing but the
standard streams can be handed down: then a thread reads each of them.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Iterable, Sequence

from benchfw.backends import Device
from benchfw.harness.workers.deaths import Log
from benchfw.harness.workers.launch import environment_of, start_worker, stop_worker
from benchfw.harness.workers.messages import Setup
from benchfw.system import CAN_SUPERVISE

CHUNK = 1 << 16  # bytes
LAST_SECONDS = 1.0  # to read what a process had written that is gone


class FileLink:
    """Files and a bell, of a supervised worker."""

    def __init__(self, setup: Setup, device: Device | None) -> None:
        self.log, self.replies = Log(), Log()
        self.replies_handle = self.replies.fileno()  # that the worker writes to
        self._started = start_worker(
            stderr=self.log.fileno(),
            env=environment_of(setup, device),
            handed_down=[self.replies_handle],
            overlay=setup.overlay,
        )
        self.process = self._started.process
        os.set_blocking(self._started.replies, False)

    def fileno(self) -> int:
        """Return the file descriptor of the bell."""
        return self._started.replies

    def send(self, content: bytes) -> None:
        """Write to the worker; a dead one is noticed when it is listened to."""
        write_all(self._started.requests, content)

    def is_gone(self) -> bool:
        """Silence the bell; return whether it is closed, or the process gone and the bell kept by another."""
        try:
            return not os.read(self._started.replies, 1 << 12)
        except BlockingIOError:
            return self.process.poll() is not None

    def stop(self) -> None:
        """End the worker and everything that it started."""
        stop_worker(self._started)

    def close(self) -> None:
        """Close the bell and the files."""
        os.close(self._started.replies)
        self.log.close()
        self.replies.close()


class PipeLink:
    """Pipes that threads read, of a worker without a supervisor."""

    replies_handle = -1

    def __init__(self, setup: Setup, device: Device | None) -> None:
        log, theirs = os.pipe()
        self._started = start_worker(stderr=theirs, env=environment_of(setup, device), overlay=setup.overlay)
        os.close(theirs)
        self.process = self._started.process
        self.log, self.replies = PipeReader(log), PipeReader(self._started.replies)

    def send(self, content: bytes) -> None:
        """Write to the worker; a dead one is noticed when it is listened to."""
        write_all(self._started.requests, content)

    def is_gone(self) -> bool:
        """Return whether the process has ended and all that it wrote was read."""
        if self.process.poll() is None:
            return self.replies.ended
        self.replies.join()
        self.log.join()
        return True

    def stop(self) -> None:
        """End the worker and everything that it started."""
        stop_worker(self._started)

    def close(self) -> None:
        """Do nothing: the threads close their pipes when these end."""


Link = FileLink | PipeLink


def open_link(setup: Setup, device: Device | None) -> Link:
    """Start a worker, and return the connection with it that this system allows."""
    return FileLink(setup, device) if CAN_SUPERVISE else PipeLink(setup, device)


def wait_for_links(links: Sequence[Link], seconds: float) -> bool:
    """Return whether a worker has sent something or is gone; wait for that at most so long."""
    readers = [link.replies for link in links if isinstance(link, PipeLink)]
    if readers:
        return wait_for_pipes(readers, seconds)
    bells = select.poll()
    for link in links:
        if isinstance(link, FileLink):
            bells.register(link, select.POLLIN)
    return bool(bells.poll(1000 * seconds))


class PipeReader:
    """What has come through a pipe, which a thread of its own reads, and closes at its end."""

    def __init__(self, pipe: int) -> None:
        self._content, self._lock = bytearray(), threading.Lock()
        self._fresh, self.ended = False, False
        self._news = threading.Event()
        self._thread = threading.Thread(target=self._read_all, args=(pipe,), daemon=True)
        self._thread.start()

    def _read_all(self, pipe: int) -> None:
        while content := os.read(pipe, CHUNK):
            with self._lock:
                self._content += content
                self._fresh = True
                self._news.set()
        os.close(pipe)
        with self._lock:
            self.ended = self._fresh = True
            self._news.set()

    def ring(self, news: threading.Event) -> None:
        """Set an event when something comes, and at once if something has come that was not read."""
        with self._lock:
            self._news = news
            if self._fresh:
                news.set()

    def join(self) -> None:
        """Wait until all is read that a process had written which is gone; another may keep the pipe."""
        self._thread.join(LAST_SECONDS)

    def begin(self) -> None:
        """Pass over what has come up to now."""
        self.bound(-1)

    def bound(self, most: int) -> None:
        """Forget all of it if it is more than so many bytes."""
        with self._lock:
            if len(self._content) > most:
                self._content.clear()

    def read(self, most: int | None = None) -> bytes:
        """Return what has come since, at most so many bytes of its end."""
        with self._lock:
            return bytes(self._content if most is None else self._content[-most:])

    def read_lines(self) -> tuple[bytes, bytes]:
        """Return the whole lines that have come since, which are passed over, and the rest."""
        with self._lock:
            self._fresh = self.ended
            lines, newline, rest = bytes(self._content).rpartition(b"\n")
            del self._content[: len(lines) + len(newline)]
        return lines, rest


def wait_for_pipes(readers: Iterable[PipeReader], seconds: float) -> bool:
    """Return whether something has come through one of the pipes; wait for that at most so long."""
    news = threading.Event()
    for reader in readers:
        reader.ring(news)
    return news.wait(seconds)


def write_all(pipe: int, content: bytes) -> None:
    """Write to a pipe, unless nobody reads it any more."""
    with contextlib.suppress(OSError):  # a broken pipe has two names on Windows
        while content:
            content = content[os.write(pipe, content) :]
