"""Synthetic sets with the shapes and the rough structure of the real ones; always asked for by name."""

from __future__ import annotations

from typing import Any

from benchfw.data import Dataset

HOME = "benchfw_datasets.synthetic"
LICENCE = "none needed: made here from a seed"


def _twin(name: str, title: str, make: str, stream: str | None = None, **defaults: Any) -> Dataset:
    return Dataset(
        name,
        f"synthetic: {title}",
        licence=LICENCE,
        redistributable=True,
        make=f"{HOME}.{make}",
        stream=f"{HOME}.{stream}" if stream else None,
        defaults=defaults,
        notes="A stand-in; numbers on it say nothing about the real set.",
    )


MOVIELENS_LIKE = _twin(
    "movielens-like", "ratings with the margins and the spectrum of MovieLens 1M", "ratings:movielens_like"
)
SOUND_LIKE = _twin("sound-like", "an oscillating waveform with gaps", "series:sound_like")
SZEGED_WEATHER_LIKE = _twin(
    "szeged-weather-like", "hours with days, seasons and weather", "series:weather_like"
)
SONAR_LIKE = _twin(
    "sonar-like",
    "two classes of correlated spectra",
    "tables:two_classes",
    rows=208,
    features=60,
    train=165,
)
IONOSPHERE_LIKE = _twin(
    "ionosphere-like",
    "two classes of correlated signals",
    "tables:two_classes",
    rows=351,
    features=34,
    train=280,
    low=-1.0,
)
USPS_LIKE = _twin("usps-like", "two classes of 256 correlated pixels", "tables:usps_like")
ADULT_LIKE = _twin("adult-like", "binary features of fourteen questions", "tables:adult_like")
COVTYPE_LIKE = _twin("covtype-like", "seven classes, numbers and indicators", "tables:covtype_like")
EPSILON_LIKE = _twin("epsilon-like", "two classes, unit rows", "tables:epsilon_like", "tables:epsilon_stream")
UCI_LIKE = _twin("uci-like", "a smooth function of a few columns with noise", "tables:regression_like")
COUNTS_LIKE = _twin("counts-like", "counts whose mean grows with a sum of the columns", "tables:counts_like")
YEAR_MSD_LIKE = _twin("year-msd-like", "years from ninety columns", "tables:year_like")
STREAM_LIKE = _twin(
    "stream-like",
    "a stream of classes or numbers, of any length",
    "tables:stream_like",
    "tables:stream_rows",
)
AP_LIKE = _twin(
    "ap-like", "counts of a correlated topic model", "text:counts_like", documents=2246, words=10_473
)
NIPS_LIKE = _twin(
    "nips-like",
    "counts of a correlated topic model",
    "text:counts_like",
    documents=1500,
    words=7_605,
    tokens=1247,
)
AP_THETA_K10_LIKE = _twin("ap-theta-k10-like", "the topics of ap-like", "text:topics_like", words=10_473)
NIPS_THETA_K10_LIKE = _twin("nips-theta-k10-like", "the topics of nips-like", "text:topics_like", words=7_605)
MNIST_LIKE = _twin("mnist-like", "shifted and warped strokes of ten digits", "images:mnist_like")
MNIST_8M_LIKE = _twin(
    "mnist-8m-like",
    "an endless stream of shifted and warped MNIST, or of another source",
    "images:deformed",
    "images:deformed_stream",
    source="mnist",
)
CIFAR10_LIKE = _twin("cifar10-like", "ten classes of smooth colour fields", "images:cifar10_like")
CIFAR10_PCA100_LIKE = _twin("cifar10-pca100-like", "ten classes, decaying components", "images:pca_like")
