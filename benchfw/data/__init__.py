"""Data sets by name: a catalog that finds, fetches, verifies, splits and streams them.

`load(name)` looks into the folders of BENCHFW_DATA, then into the cache, then downloads. Nothing heavy is
imported before an array or a download is asked for.
"""

from benchfw.data.catalog import (
    dataset_names,
    find_dataset,
    get_dataset,
    is_synthetic,
    parse_dataset_name,
    registered_datasets,
    source_names,
    stream_parameters,
)
from benchfw.data.dataset import (
    Arrays,
    ArraySpec,
    Ask,
    Dataset,
    RawFile,
    check_arrays,
    check_finite,
    resolve_function,
)
from benchfw.data.fetch import fetch, import_files
from benchfw.data.files import (
    FOLDERS_VARIABLE,
    cache_folder,
    content_hash,
    local_datasets,
    locate,
    open_member,
    open_raw,
    open_text,
    summarize_array,
)
from benchfw.data.load import (
    Verification,
    check_name,
    ensure_available,
    find_path,
    fingerprint,
    load,
    verify,
)
from benchfw.data.split import Split, Table, deviations, has_split, load_table, split, split_documents
from benchfw.data.stream import batches

__all__ = [
    "FOLDERS_VARIABLE",
    "ArraySpec",
    "Arrays",
    "Ask",
    "Dataset",
    "RawFile",
    "Split",
    "Table",
    "Verification",
    "batches",
    "cache_folder",
    "check_arrays",
    "check_finite",
    "check_name",
    "content_hash",
    "dataset_names",
    "deviations",
    "ensure_available",
    "fetch",
    "find_dataset",
    "find_path",
    "fingerprint",
    "get_dataset",
    "has_split",
    "import_files",
    "is_synthetic",
    "load",
    "load_table",
    "local_datasets",
    "locate",
    "open_member",
    "open_raw",
    "open_text",
    "parse_dataset_name",
    "registered_datasets",
    "resolve_function",
    "source_names",
    "split",
    "split_documents",
    "stream_parameters",
    "summarize_array",
    "verify",
]
