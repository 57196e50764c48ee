"""Pictures warped by their number: made on any backend, and entered anywhere."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchfw.backends import Backend
from benchfw_datasets.synthetic.draws import Array

SIDE = 28
COARSE = 7  # points a side of the field that bends a picture
STREAM = 0x77617270  # "warp": no other use of a seed shares its numbers
SHIFT, TURN, SCALE, SHEAR, BEND = 0.7, 0.10, 0.06, 0.10, 1.0  # standard deviations, in pixels, radians, parts
AFFINE = 5  # normals of a row: two shifts, turn, scale, shear
NORMALS = AFFINE + 2 * COARSE**2
AT_A_TIME = 2048  # rows: enough to fill a device, little enough for a cache
WORDS = 1 + (NORMALS + 1) // 2  # random words of a row: one chooses its picture, one makes two normals


class WarpedPictures:
    """An endless set of pictures of 28 x 28 bytes, each chosen at random from a source, moved and bent.

    Row i depends on the seed and i alone. Its picture is shifted, turned, scaled and sheared a little, and
    bent by a smooth field of 7 x 7 normals. The random numbers are the same on every backend, the pixels up
    to rounding: bytes of two backends may differ by 1.
    """

    def __init__(self, backend: Backend, pictures: Array, labels: Array, seed: int) -> None:
        self._backend, self._seed, self._labels = backend, seed, np.asarray(labels)
        # black all around, so that what is read beside a picture is 0
        padded = np.pad(np.asarray(pictures).reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
        self._pictures = backend.asarray(padded.reshape(-1))
        self._smoothing = backend.asarray(_smoothing())

    def rows(self, start: int, stop: int) -> tuple[Any, Array]:
        """Return rows start … stop-1: pixels (k, 784) uint8 on the backend, and labels (k,) on the host."""
        pieces = [self._piece(at, min(at + AT_A_TIME, stop)) for at in range(start, stop, AT_A_TIME)]
        pixels, labels = zip(*pieces, strict=True)
        return self._backend.xp.concatenate(pixels), np.concatenate(labels)

    def _piece(self, start: int, stop: int) -> tuple[Any, Array]:
        backend, xp, count = self._backend, self._backend.xp, stop - start
        words = backend.bits_of_blocks(self._seed, STREAM, start, count, WORDS)
        # the top 53 bits: what a remainder prefers is below 1e-11
        chosen = (words[:, 0] >> np.uint64(11)).astype(xp.int64) % len(self._labels)
        flat = xp.ascontiguousarray(words[:, 1:]).reshape(-1)
        normals = backend.normals(flat, np.float32).reshape(count, -1)[:, :NORMALS]
        pixels = self._read(chosen, *self._places(normals))
        return xp.rint(pixels).astype(xp.uint8), self._labels[backend.to_numpy(chosen)]

    def _places(self, normals: Any) -> tuple[Any, Any]:
        """Return where each pixel is read from, down and right, (k, 784) float32 each."""
        xp = self._backend.xp
        down, right = (xp.asarray(each) for each in _grid())
        shift_down, shift_right, turn, scale, shear = (normals[:, k, None] for k in range(AFFINE))
        size = 1 + SCALE * scale
        cosine, sine = size * xp.cos(TURN * turn), size * xp.sin(TURN * turn)
        bend = normals[:, AFFINE:].reshape(-1, COARSE**2) @ self._smoothing
        bend = bend.reshape(-1, 2, SIDE**2)
        middle = (SIDE - 1) / 2
        return (
            middle + SHIFT * shift_down + cosine * down - sine * right + bend[:, 0],
            middle + SHIFT * shift_right + sine * down + (cosine + SHEAR * shear) * right + bend[:, 1],
        )

    def _read(self, chosen: Any, down: Any, right: Any) -> Any:
        """Return the chosen pictures read at these places, bilinear between pixels, black outside."""
        xp, side = self._backend.xp, SIDE + 2
        down, right = (xp.clip(each + 1, 0, SIDE + 0.999) for each in (down, right))
        top, left = xp.floor(down), xp.floor(right)
        below, beside = down - top, right - left
        corner = (chosen * side**2)[:, None] + (top * side + left).astype(xp.int64)  # whole below 2**24

        def tap(offset: int) -> Any:
            return self._pictures[corner + offset].astype(xp.float32)

        upper = tap(0) * (1 - beside) + tap(1) * beside
        lower = tap(side) * (1 - beside) + tap(side + 1) * beside
        return upper * (1 - below) + lower * below


@functools.cache
def _grid() -> tuple[Array, Array]:
    """Return how far down and right of the middle each pixel is, (784,) float32."""
    line = np.arange(SIDE, dtype=np.float32) - np.float32((SIDE - 1) / 2)
    return np.repeat(line, SIDE), np.tile(line, SIDE)


@functools.cache
def _smoothing() -> Array:
    """Return what makes a field of standard deviation BEND of 7 x 7 normals: (49, 784) float32."""
    spacing = SIDE / COARSE
    centres = spacing * (np.arange(COARSE) + 0.5) - 0.5
    bumps = np.exp(-0.5 * ((centres[:, None] - np.arange(SIDE)) / spacing) ** 2)
    weights = np.einsum("ar,bc->abrc", bumps, bumps).reshape(COARSE**2, SIDE**2)
    return np.asarray(BEND * weights / np.sqrt((weights**2).sum(axis=0)), dtype=np.float32)
