"""Data sets by name: a catalog that finds, fetches, verifies, splits and streams them.

`load(name)` looks into the folders of BENCHFW_DATA, then into the cache, then downloads. Nothing heavy is
imported before an array or a download is asked for.
"""

from benchfw.data.access import Verdict, find, fingerprint, load, names, verify
from benchfw.data.batching import batches
from benchfw.data.content import content_hash
from benchfw.data.entry import ArraySpec, Dataset, RawFile
from benchfw.data.fetching import ensure, fetch, import_files
from benchfw.data.folders import VARIABLE, cache, here
from benchfw.data.known import catalog, dataset
from benchfw.data.splits import Split, Table, halves, has_split, split, table

__all__ = [
    "VARIABLE",
    "ArraySpec",
    "Dataset",
    "RawFile",
    "Split",
    "Table",
    "Verdict",
    "batches",
    "cache",
    "catalog",
    "content_hash",
    "dataset",
    "ensure",
    "fetch",
    "find",
    "fingerprint",
    "halves",
    "has_split",
    "here",
    "import_files",
    "load",
    "names",
    "split",
    "table",
    "verify",
]
