"""Tables with numbers to predict."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

HOME = (
    "https://raw.githubusercontent.com/treforevans/uci_datasets/"
    "f0737523712fe66a1640e4b980b927e8490b58eb/uci_datasets"
)
UCI = "CC BY 4.0 (UCI): cite the donors"
DELVE = "none stated (DELVE and Torgo collections)"
YEAR_CITATION = "Bertin-Mahieux et al., The Million Song Dataset, ISMIR 2011; UCI, YearPredictionMSD"


def _uci(short: str, title: str, rows: int, features: int, licence: str, content: str) -> Dataset:
    folder = f"{HOME}/{short}"
    return Dataset(
        f"uci-{short}",
        f"{title}: {rows:,} x {features}",
        {
            "x": ArraySpec((rows, features), "float32"),
            "y": ArraySpec((rows,), "float32"),
            "test_mask": ArraySpec((-(-rows // 8), 10), "uint8"),
        },
        "as prepared by T. Evans, github.com/treforevans/uci_datasets (MIT), after Yang et al., AISTATS 2016",
        licence,
        (
            RawFile("data.csv.gz", f"{folder}/data.csv.gz"),
            RawFile("test_mask.csv.gz", f"{folder}/test_mask.csv.gz"),
        ),
        "benchfw_datasets.loaders.regression:uci",
        {content: "data.csv.gz and test_mask.csv.gz"},
        sealed=True,
        redistributable=licence == UCI,
        notes=(
            "Centred by its source; standardize on the training rows. test_mask holds ten 90/10 splits, "
            "packed down the rows: numpy.unpackbits(test_mask, axis=0)[:len(y)]."
        ),
        twin=f"uci-like(rows={rows}, features={features})",
    )


UCI_BIKE = _uci(
    "bike",
    "Hourly bike rentals",
    17_379,
    17,
    UCI,
    "c5a0ef5867d7fb8cea853278e620ce2969417b4fcbaf58f0bcd281ec35beec73",
)
UCI_ELEVATORS = _uci(
    "elevators",
    "F-16 elevator control",
    16_599,
    18,
    DELVE,
    "a4bcef25a3d0ea8eda2541f49da4c4201e1bd6a86c115005a4b9c2cdcece7f54",
)
UCI_KEGGUNDIRECTED = _uci(
    "keggundirected",
    "KEGG metabolic reaction network",
    63_608,
    27,
    UCI,
    "6d1ae526d140e8d2a7a9e411202fc948e3f91ab2ceeff747aaf06a002296c6c9",
)
UCI_KIN40K = _uci(
    "kin40k",
    "Robot-arm kinematics",
    40_000,
    8,
    DELVE,
    "43325d010181060a1fef3486a3bca4ccd86b4cba65eef5fb71e9c1e91606f0f5",
)
UCI_POL = _uci(
    "pol",
    "Telecommunication (pol)",
    15_000,
    26,
    DELVE,
    "1a3f22a6df1b97abea61c22d439aa9fc40b5890bf4c55fe18405aa03aef06c68",
)
UCI_PROTEIN = _uci(
    "protein",
    "CASP protein tertiary structure",
    45_730,
    9,
    UCI,
    "ea182785f773c1944e6172223f2456b0ce28ab00592f0d1549eeb0093b5c048f",
)
YEAR_MSD = Dataset(
    "year-msd",
    "YearPredictionMSD: 515,345 x 90, the year of a song",
    {"x": ArraySpec((515_345, 90), "float32"), "y": ArraySpec((515_345,), "int16")},
    YEAR_CITATION,
    UCI,
    (
        RawFile(
            "YearPredictionMSD.txt.zip",
            "https://archive.ics.uci.edu/ml/machine-learning-databases/00203/YearPredictionMSD.txt.zip",
        ),
    ),
    "benchfw_datasets.loaders.regression:year_msd",
    redistributable=True,
    notes=(
        "The first 463,715 rows train and the last 51,630 test, so that no artist is in both (UCI). No "
        "checksum is known: shape and types are checked."
    ),
    twin="year-msd-like(rows=515345)",
    split=("first", 463_715),
)
YEAR_MSD_SAMPLE = Dataset(
    "year-msd-sample",
    "The first 1,176 rows of YearPredictionMSD: to try a format, too few to compare methods",
    {"x": ArraySpec((1_176, 90), "float32"), "y": ArraySpec((1_176,), "int16")},
    YEAR_CITATION,
    UCI,
    contents={"dcf47eade3822db69eba257d78f6d80518f4aac3a40c04afe973ba755c684216": "the first 1,176 rows"},
    sealed=True,
    redistributable=True,
    by_hand="fetch year-msd and keep its first 1,176 rows",
    twin="year-msd-like(rows=1176)",
)
