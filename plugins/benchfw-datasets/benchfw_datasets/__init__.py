"""The data sets of the methods' papers, how their raw files are read, and a synthetic stand-in for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfw import hookimpl

if TYPE_CHECKING:
    from benchfw.hookspecs import RegisterDataset

benchfw_api = 1

DATASETS = {
    "classification": "adult covtype epsilon ionosphere sonar usps-2vs4 usps-3vs5",
    "images": "cifar10 cifar10-pca100 mnist mnist-8m",
    "ratings": "movielens-100k movielens-1m movielens-10m",
    "regression": (
        "uci-bike uci-elevators uci-keggundirected uci-kin40k uci-pol uci-protein year-msd year-msd-sample"
    ),
    "series": "sound szeged-weather",
    "text": "ap ap-theta-k10 nips nips-theta-k10",
    "twins": (
        "adult-like ap-like ap-theta-k10-like cifar10-like cifar10-pca100-like counts-like covtype-like "
        "epsilon-like ionosphere-like mnist-8m-like mnist-like movielens-like nips-like nips-theta-k10-like "
        "sonar-like sound-like stream-like szeged-weather-like uci-like usps-like year-msd-like"
    ),
}
"""The names in each file of `entries`: "usps-2vs4" is USPS_2VS4 there, imported when it is asked for."""


SOURCES = {"openml:": "openml", "libsvm:": "libsvm", "hf:": "huggingface"}
"""Hosts of many data sets, by the prefix of their names; each is a file of `sources`."""


@hookimpl
def register_datasets(register: RegisterDataset) -> None:
    """Add every entry of the catalog, and the sources."""
    for file, names in DATASETS.items():
        for name in names.split():
            register(name, f"benchfw_datasets.entries.{file}:{name.upper().replace('-', '_')}")
    for prefix, file in SOURCES.items():
        register(prefix, f"benchfw_datasets.sources.{file}:find")
