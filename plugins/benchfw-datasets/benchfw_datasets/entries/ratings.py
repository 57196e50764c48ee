"""MovieLens."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

HOME = "https://files.grouplens.org/datasets/movielens"
CITATION = (
    "Harper & Konstan, The MovieLens Datasets: History and Context, ACM TiiS 5(4):19, 2015, "
    "doi:10.1145/2827872"
)
LICENCE = "GroupLens terms: research, cite, no redistribution, no commercial use"
LOADER = "benchfw_datasets.loaders.ratings:movielens"
CONSENT = f"read the terms on https://grouplens.org/datasets/movielens/ and get the zip from {HOME}/"


def _triplets(user: str, item: str, rating: str) -> dict[str, ArraySpec]:
    return {
        "user": ArraySpec(("ratings",), user),
        "item": ArraySpec(("ratings",), item),
        "rating": ArraySpec(("ratings",), rating),
    }


MOVIELENS_100K = Dataset(
    "movielens-100k",
    "MovieLens 100K: 100,000 ratings of 1,682 films by 943 users",
    {**_triplets("int16", "int16", "int8"), "timestamp": ArraySpec(("ratings",), "int32")},
    CITATION,
    LICENCE,
    (
        RawFile(
            "ml-100k.zip",
            f"{HOME}/ml-100k.zip",
            "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        ),
    ),
    LOADER,
    {"47eff835bc8b8450940e85928a45ffcbc68a75ed5670299532502217eb27f736": "the official u.data"},
    size=4_924_029,
    sealed=True,
    by_hand=CONSENT,
    notes="Ids count from 1; sorted by (user, item).",
    twin="movielens-like(users=943, items=1682, ratings=100000)",
    lengths={"ratings": (100_000,)},
    split=("fraction", 10),
)
MOVIELENS_1M = Dataset(
    "movielens-1m",
    "MovieLens 1M: 1,000,209 ratings of 3,706 films by 6,040 users",
    {
        **_triplets("int16", "int16", "int8"),
        "timestamp": ArraySpec(("ratings",), "int32", optional=True),
        "probe": ArraySpec(("mask",), "uint8", optional=True),
        "n": ArraySpec((), "int64", optional=True),
    },
    CITATION,
    LICENCE,
    (
        RawFile(
            "ml-1m.zip",
            f"{HOME}/ml-1m.zip",
            "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        ),
    ),
    LOADER,
    {
        "3331be46450ce82127919fcd439e11a26fce90b8b36d312b0891ababc0285397": (
            "the 1,000,203 triplets of the Bayesian PMF code, with its probe set"
        )
    },
    size=5_917_549,
    by_hand=CONSENT,
    notes=(
        "Two copies are in use. The official download has 1,000,209 ratings with timestamps and no "
        "stored split. The triplets that travel with the Bayesian PMF code have 1,000,203 of them, no "
        "timestamps, and a bit-packed mask `probe` of 100,203 test ratings "
        "(numpy.unpackbits(probe)[:n]). Their content hashes differ, and with them the keys of trials. "
        "Ids are the original ones, films up to 3952."
    ),
    twin="movielens-like(users=6040, items=3706, ratings=1000209)",
    lengths={"ratings": (1_000_209, 1_000_203)},
    split=("fraction", 10),
)
MOVIELENS_10M = Dataset(
    "movielens-10m",
    "MovieLens 10M: 10,000,054 ratings of 10,677 films by 69,878 users",
    {**_triplets("int32", "int32", "float32"), "timestamp": ArraySpec(("ratings",), "int32")},
    CITATION,
    LICENCE,
    (
        RawFile(
            "ml-10m.zip",
            f"{HOME}/ml-10m.zip",
            "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
        ),
    ),
    LOADER,
    size=65_566_137,
    by_hand=CONSENT,
    notes="Ratings in half stars, 0.5 to 5, so float32; original ids; sorted by (user, item).",
    twin="movielens-like(users=69878, items=10677, ratings=10000054)",
    lengths={"ratings": (10_000_054,)},
    split=("fraction", 10),
)
