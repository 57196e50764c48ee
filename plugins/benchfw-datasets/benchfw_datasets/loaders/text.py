"""Word counts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import open_member, open_raw

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data import Arrays


def lda_c(files: Mapping[str, Path]) -> Arrays:
    """Return the counts of ap.dat (`distinct word:count …`, a line a document) and vocab.txt in a tar."""
    import numpy as np

    (path,) = files.values()
    with open_member(path, "vocab.txt") as file:
        vocabulary = file.read().decode("utf-8", "replace").split("\n")
    with open_member(path, "ap.dat") as file:
        lines = [line.split()[1:] for line in file if line.strip()]
    pairs = np.array([word.split(b":") for line in lines for word in line], dtype=np.int64).reshape(-1, 2)
    documents = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return _counts(documents, pairs[:, 0], pairs[:, 1], len(lines), [each for each in vocabulary if each])


def bag_of_words(files: Mapping[str, Path]) -> Arrays:
    """Return the counts of docword.*.txt.gz (three sizes, then `document word count`) and vocab.*.txt."""
    import numpy as np

    words, vocabulary = sorted(files.values(), key=lambda path: not path.name.startswith("docword"))
    with open_raw(words) as file:
        sizes = [int(file.readline()) for _ in range(3)]
        table = np.array(file.read().split(), dtype=np.int64).reshape(-1, 3)
    if len(table) != sizes[2]:
        raise ValueError(f"{len(table)} cells, not the {sizes[2]} that its head promises")
    with open_raw(vocabulary) as file:
        names = file.read().decode("utf-8", "replace").split()
    return _counts(table[:, 0] - 1, table[:, 1] - 1, table[:, 2], sizes[0], names)


def _counts(
    documents: np.ndarray[Any, Any],
    words: np.ndarray[Any, Any],
    counts: np.ndarray[Any, Any],
    rows: int,
    vocabulary: list[str],
) -> Arrays:
    """Return the CSR arrays of a table of counts, words in rising order within a document."""
    import numpy as np

    order = np.lexsort((words, documents))
    if len(counts) and counts.max() > np.iinfo(np.uint8).max:
        raise ValueError(f"a count of {counts.max()}, more than a byte holds")
    if len(words) and not 0 <= words.min() <= words.max() < len(vocabulary):
        raise ValueError("a word outside the vocabulary")
    ends = np.cumsum(np.bincount(documents, minlength=rows))
    return {
        "data": counts[order].astype(np.uint8),
        "indices": words[order].astype(np.uint16),
        "indptr": np.concatenate([[0], ends]).astype(np.int32),
        "shape": np.array([rows, len(vocabulary)], dtype=np.int32),
        "vocab": np.array(vocabulary, dtype=np.str_),
    }
