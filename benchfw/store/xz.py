"""Packs a file by xz, and unpacks one that may come from anywhere, no larger than is allowed."""

from __future__ import annotations

import lzma
from functools import partial
from typing import IO

PRESET = 1  # of xz: as fast as a zip archive's own packing, and a third smaller
PIECE = 2**16  # bytes at a time
MOST_MEMORY = 2**27  # bytes to unpack, as no preset of xz needs


class TooLarge(Exception):
    """What was packed has more bytes than is allowed."""


def pack(source: IO[bytes], target: IO[bytes]) -> None:
    """Write a file packed."""
    packer = lzma.LZMACompressor(preset=PRESET)
    for piece in iter(partial(source.read, PIECE), b""):
        target.write(packer.compress(piece))
    target.write(packer.flush())


def unpack(source: IO[bytes], target: IO[bytes], most: int) -> None:
    """Write what a packed file holds; TooLarge if that has more than so many bytes."""
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
    while not unpacker.eof:
        piece = source.read(PIECE) if unpacker.needs_input else b""
        if unpacker.needs_input and not piece:
            raise EOFError("it ends in the middle of what is packed")
        found = unpacker.decompress(piece, PIECE)
        most -= len(found)
        if most < 0:
            raise TooLarge
        target.write(found)
