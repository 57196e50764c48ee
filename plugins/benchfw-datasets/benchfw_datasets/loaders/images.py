"""Pictures: idx files, CIFAR's binary batches, MNIST-8M."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import open_member, open_raw
from benchfw_datasets.loaders.libsvm import blocks

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data import Arrays

PIXELS = 784
SIDE = 32
COMPONENTS = 100


def mnist(files: Mapping[str, Path]) -> Arrays:
    """Return x_train, y_train, x_test, y_test from the four idx files."""
    return {
        f"{key}_{part}": _idx(files[f"{prefix}-{kind}-ubyte.gz"])
        for part, prefix in (("train", "train"), ("test", "t10k"))
        for key, kind in (("x", "images-idx3"), ("y", "labels-idx1"))
    }


def _idx(path: Path) -> np.ndarray[Any, Any]:
    """Return the array of an idx file of unsigned bytes: magic 0 0 8 rank, lengths, elements."""
    import numpy as np

    with open_raw(path) as file:
        magic = file.read(4)
        if magic[:3] != b"\0\0\x08":
            raise ValueError(f"{path.name} is not an idx file of unsigned bytes")
        shape = np.frombuffer(file.read(4 * magic[3]), ">u4").astype(int)
        return np.frombuffer(file.read(), np.uint8).reshape(shape)


def mnist_8m(files: Mapping[str, Path]) -> Iterator[Arrays]:
    """Yield pieces of x (8100000, 784) and y from the LIBSVM file."""
    import numpy as np

    (path,) = files.values()
    for features, labels in blocks(path, PIXELS, np.uint8):
        yield {"x": features, "y": labels.astype(np.uint8)}


def cifar10(files: Mapping[str, Path]) -> Arrays:
    """Return x (…, 32, 32, 3) and y of the binary batches: a label byte, then red, green and blue planes."""
    import numpy as np

    (path,) = files.values()
    arrays: Arrays = {}
    names = [f"data_batch_{number}.bin" for number in range(1, 6)]
    for part, batches in (("train", names), ("test", ["test_batch.bin"])):
        records = []
        for name in batches:
            with open_member(path, name) as file:
                records.append(np.frombuffer(file.read(), np.uint8).reshape(-1, 1 + 3 * SIDE * SIDE))
        table = np.concatenate(records)
        planes = table[:, 1:].reshape(-1, 3, SIDE, SIDE)
        arrays[f"x_{part}"] = np.ascontiguousarray(planes.transpose(0, 2, 3, 1))
        arrays[f"y_{part}"] = table[:, 0].copy()
    return arrays


def cifar10_pca100(files: Mapping[str, Path]) -> Arrays:
    """Return CIFAR-10 as 100 principal components of pixels/255, with what is needed to go back."""
    import numpy as np
    from scipy.linalg import eigh

    pictures = cifar10(files)
    rows = {
        part: pictures[f"x_{part}"].reshape(-1, 3 * SIDE * SIDE).astype(np.float32) / np.float32(255)
        for part in ("train", "test")
    }
    mean = rows["train"].mean(axis=0, dtype=np.float64).astype(np.float32)
    centred = {part: each - mean for part, each in rows.items()}
    covariance = (centred["train"].T @ centred["train"]).astype(np.float64) / len(centred["train"])
    size = len(covariance)
    values, vectors = eigh(covariance, subset_by_index=(size - COMPONENTS, size - 1))
    components = vectors.T[::-1]
    # a component's sign is free: its largest entry is made positive
    largest = np.argmax(np.abs(components), axis=1)
    components = components * np.sign(components[np.arange(COMPONENTS), largest])[:, None]
    return {
        **{f"x_{part}": (each @ components.T).astype(np.float16) for part, each in centred.items()},
        "y_train": pictures["y_train"],
        "y_test": pictures["y_test"],
        "pca_mean": mean.astype(np.float16),
        "pca_components": components.astype(np.float16),
        "explained": (values[::-1] / np.trace(covariance)).astype(np.float32),
    }
