"""A worker without a supervisor: requests come by standard input, replies go to standard output.

A thread reads the requests, so that the end of the parent is noticed also while a trial runs.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading

from benchfw.harness.workers.supervisor import end_process
from benchfw.system import end_children, set_path_of_programs

CHUNK = 1 << 16  # bytes


def main() -> None:
    """Start from the command line: the module whose `serve` is to run, PYTHONPATH of what it starts."""
    set_path_of_programs("".join(sys.argv[2:]))
    given, replies = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # for whatever the plugins print
    requests, forwarded = os.pipe()
    threading.Thread(target=_forward, args=(given, forwarded), daemon=True).start()
    serve = importlib.import_module(sys.argv[1]).serve
    end_process(lambda: serve(requests, replies), end_children)


def _forward(given: int, forwarded: int) -> None:
    """Hand on what the parent sends; at its end, end this process and what it started."""
    while content := os.read(given, CHUNK):
        while content:
            content = content[os.write(forwarded, content) :]
    end_children()
    os._exit(0)


if __name__ == "__main__":
    main()
