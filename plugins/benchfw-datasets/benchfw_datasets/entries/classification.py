"""Tables with classes."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI_LICENCE = "CC BY 4.0 (UCI): cite the donors"
SPLIT_NOTE = (
    "The copy with train_idx and test_idx keeps the order of rows of the UAI 2016 experiments; the official "
    "file has no split, and the same rows are then found by their rule: the first 20 % of each class test."
)


def _table(rows: int, features: int, dtype: str, train: int) -> dict[str, ArraySpec]:
    return {
        "X": ArraySpec((rows, features), dtype),
        "y": ArraySpec((rows,), "int8"),
        "train_idx": ArraySpec((train,), "int32", optional=True),
        "test_idx": ArraySpec((rows - train,), "int32", optional=True),
    }


def _usps(first: int, second: int, rows: int, train: int, content: str, notes: str) -> Dataset:
    return Dataset(
        f"usps-{first}vs{second}",
        f"USPS digits {first} (+1) against {second} (-1), 16 x 16 pixels in [-1, 1]",
        {**_table(rows, 256, "float32", train), "digits": ArraySpec((2,), "int8")},
        "Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, §3.7; data by CEDAR, Buffalo",
        "none stated: passed on freely for research",
        (RawFile("usps_resampled.mat"),),
        f"benchfw_datasets.loaders.classification:usps_{first}vs{second}",
        {content: "the resampled USPS digits of GPML"},
        by_hand=(
            "its site has no https: get the archive usps_resampled from "
            "http://www.gaussianprocess.org/gpml/data/ and unpack usps_resampled.mat"
        ),
        notes=notes,
        twin=f"usps-like(rows={rows}, train={train})",
    )


SONAR = Dataset(
    "sonar",
    "Sonar, mines (+1) against rocks (-1): 208 x 60",
    _table(208, 60, "float64", 165),
    "Gorman & Sejnowski, Neural Networks 1, 1988; UCI, Connectionist Bench",
    UCI_LICENCE,
    (
        RawFile(
            "sonar.all-data",
            f"{UCI}/undocumented/connectionist-bench/sonar/sonar.all-data",
            "e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
        ),
    ),
    "benchfw_datasets.loaders.classification:sonar",
    {"deb67e7daa280dbd23783db71c98115ab097584aec3ab44f35e0a9cf25513411": "with the UAI 2016 split"},
    size=87_776,
    redistributable=True,
    notes=(
        f"{SPLIT_NOTE} The file follows the aspect angle, so that the test rows are shifted: "
        "about 42 % test errors are right."
    ),
    twin="sonar-like",
    split=("heads", 20),
)
IONOSPHERE = Dataset(
    "ionosphere",
    "Ionosphere, bad (+1) against good (-1) radar returns: 351 x 34",
    _table(351, 34, "float64", 280),
    "Sigillito et al., Johns Hopkins APL Technical Digest 10, 1989; UCI, Ionosphere",
    UCI_LICENCE,
    (
        RawFile(
            "ionosphere.data",
            f"{UCI}/ionosphere/ionosphere.data",
            "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
        ),
    ),
    "benchfw_datasets.loaders.classification:ionosphere",
    {"1d3832aa49c8067311d1649dd54101e7ac295e3e383660536d7ce331ea39958b": "with the UAI 2016 split"},
    size=76_467,
    redistributable=True,
    notes=SPLIT_NOTE,
    twin="ionosphere-like",
    split=("heads", 20),
)
USPS_2VS4 = _usps(
    2,
    4,
    1781,
    884,
    "15c79b61b7ed57ba295df17dcb5990df6e64b9eca15aef6a53700007147aa633",
    "What the UAI 2016 paper calls USPS-3vs5 is this set (884 training and 897 test digits): its script "
    "takes rows 3 and 5 of labels whose first row is digit 0.",
)
USPS_3VS5 = _usps(
    3,
    5,
    1540,
    767,
    "30c98bdc9fc67902de477c646db2873009887eb974adbe699e87c067964f4f2c",
    "The task of the GPML book; the numbers of the UAI 2016 paper belong to usps-2vs4.",
)
ADULT = Dataset(
    "adult",
    "Adult as LIBSVM's a9a: 32,561 and 16,281 rows of 123 binary features",
    {
        "x_train_bits": ArraySpec((32_561, 16), "uint8"),
        "y_train": ArraySpec((32_561,), "int8"),
        "x_test_bits": ArraySpec((16_281, 16), "uint8"),
        "y_test": ArraySpec((16_281,), "int8"),
        "n_features": ArraySpec((), "int64"),
    },
    "Kohavi, KDD 1996 (UCI, Adult); binary features by Platt, 1998; Chang & Lin, LIBSVM",
    UCI_LICENCE,
    (RawFile("a9a", f"{LIBSVM}/binary/a9a"), RawFile("a9a.t", f"{LIBSVM}/binary/a9a.t")),
    "benchfw_datasets.loaders.classification:adult",
    {"4da9a54bca97387fde5a88daadbbb42558912e315fd58303a6d284f2f1db8ad0": "a9a and a9a.t"},
    sealed=True,
    redistributable=True,
    notes="Features are bit-packed: numpy.unpackbits(x_train_bits, axis=1)[:, :123].",
    twin="adult-like(rows=32561, test_rows=16281)",
)
COVTYPE = Dataset(
    "covtype",
    "Forest cover types: 581,012 x 54, classes 1 to 7",
    {"x": ArraySpec((581_012, 54), "int16"), "y": ArraySpec((581_012,), "uint8")},
    "Blackard & Dean, Computers and Electronics in Agriculture 24, 1999; UCI, Covertype",
    UCI_LICENCE,
    (
        RawFile(
            "covtype.data.gz",
            f"{UCI}/covtype/covtype.data.gz",
            "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
        ),
    ),
    "benchfw_datasets.loaders.classification:covtype",
    redistributable=True,
    twin="covtype-like(rows=581012)",
    split=("fraction", 10),
)
EPSILON = Dataset(
    "epsilon",
    "Epsilon (PASCAL challenge 2008): 400,000 and 100,000 rows of 2,000 features, two classes",
    {
        "x_train": ArraySpec((400_000, 2_000), "float32"),
        "y_train": ArraySpec((400_000,), "int8"),
        "x_test": ArraySpec((100_000, 2_000), "float32"),
        "y_test": ArraySpec((100_000,), "int8"),
    },
    "PASCAL Large Scale Learning Challenge, 2008; Yuan, Ho & Lin, JMLR 13, 2012; Chang & Lin, LIBSVM",
    "none stated: research use",
    (
        RawFile(
            "epsilon_normalized.bz2",
            f"{LIBSVM}/binary/epsilon_normalized.bz2",
            "aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978",
        ),
        RawFile(
            "epsilon_normalized.t.bz2",
            f"{LIBSVM}/binary/epsilon_normalized.t.bz2",
            "cb299295ad11e200696eaa3050f5d8cf700eaa9c65e6aa859bda959f8669458b",
        ),
    ),
    "benchfw_datasets.loaders.classification:epsilon",
    streamed=True,
    notes="Kept as memory-mapped .npy files, 4 GB.",
    twin="epsilon-like(rows=400000, test_rows=100000)",
)
