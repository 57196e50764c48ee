"""Pictures."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

MIRROR = "https://storage.googleapis.com/cvdf-datasets/mnist"
CIFAR = (
    RawFile(
        "cifar-10-binary.tar.gz",
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    ),
)
CIFAR_CITATION = "Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009"
CIFAR_LICENCE = "none stated: cite; from 80 Million Tiny Images"
MNIST_CITATION = "LeCun, Cortes & Burges, The MNIST database of handwritten digits, 1998"
LOADERS = "benchfw_datasets.loaders.images"


def _labelled(train: int, test: int, shape: tuple[int, ...], dtype: str) -> dict[str, ArraySpec]:
    return {
        "x_train": ArraySpec((train, *shape), dtype),
        "y_train": ArraySpec((train,), "uint8"),
        "x_test": ArraySpec((test, *shape), dtype),
        "y_test": ArraySpec((test,), "uint8"),
    }


MNIST = Dataset(
    "mnist",
    "MNIST: 60,000 and 10,000 handwritten digits, 28 x 28",
    _labelled(60_000, 10_000, (28, 28), "uint8"),
    MNIST_CITATION,
    "usually given as CC BY-SA 3.0",
    tuple(
        RawFile(f"{name}.gz", f"{MIRROR}/{name}.gz", digest)
        for name, digest in (
            (
                "train-images-idx3-ubyte",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            (
                "train-labels-idx1-ubyte",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            (
                "t10k-images-idx3-ubyte",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            (
                "t10k-labels-idx1-ubyte",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        )
    ),
    f"{LOADERS}:mnist",
    {"10fc3cab3032e32de3cce879152ecca02151a762ebde3e46ea42217b6de4d094": "the original idx files"},
    size=11_594_722,
    sealed=True,
    notes=(
        "Its first home (yann.lecun.com/exdb/mnist) no longer serves the files; the address is the "
        "copy of the Common Visual Data Foundation, held to the checksums of the original files."
    ),
    twin="mnist-like(rows=60000, test_rows=10000)",
)
MNIST_8M = Dataset(
    "mnist-8m",
    "MNIST-8M (infinite MNIST): 8,100,000 deformed digits, 784 pixels",
    {"x": ArraySpec((8_100_000, 784), "uint8"), "y": ArraySpec((8_100_000,), "uint8")},
    "Loosli, Canu & Bottou, Training Invariant Support Vector Machines using Selective Sampling, 2007",
    "none stated: as MNIST",
    (
        RawFile(
            "mnist8m.bz2",
            "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/mnist8m.bz2",
        ),
    ),
    f"{LOADERS}:mnist_8m",
    streamed=True,
    by_hand=(
        "get mnist8m.bz2 or mnist8m.xz from https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html"
    ),
    notes=(
        "Read in blocks and kept as memory-mapped .npy files, 6.4 GB. No checksum of the download is "
        "known to us: shape and types are checked."
    ),
    twin="mnist-8m-like(rows=8100000)",
    split=("fraction", 10),
)
CIFAR10 = Dataset(
    "cifar10",
    "CIFAR-10: 50,000 and 10,000 colour pictures, 32 x 32 x 3",
    _labelled(50_000, 10_000, (32, 32, 3), "uint8"),
    CIFAR_CITATION,
    CIFAR_LICENCE,
    CIFAR,
    f"{LOADERS}:cifar10",
    size=170_052_171,
    notes="From the binary version: the Python version is made of pickles, which benchfw never reads.",
    twin="cifar10-like(rows=50000, test_rows=10000)",
)
CIFAR10_PCA100 = Dataset(
    "cifar10-pca100",
    "CIFAR-10 as 100 principal components of pixels/255, float16",
    {
        **_labelled(50_000, 10_000, (100,), "float16"),
        "pca_mean": ArraySpec((3_072,), "float16"),
        "pca_components": ArraySpec((100, 3_072), "float16"),
        "explained": ArraySpec((100,), "float32"),
    },
    CIFAR_CITATION,
    CIFAR_LICENCE,
    CIFAR,
    f"{LOADERS}:cifar10_pca100",
    {
        "8a41495d88a2ae6cac7715383e77bd3579a8ca32be7b7023d23cd3b7aa28bb15": (
            "from JPEG copies of the pictures, in a shuffled order"
        )
    },
    size=170_052_171,
    notes=(
        "Two copies are in use. The download is the official pictures, in their order, and the "
        "components are computed here. The other one comes from JPEG copies (channel means "
        "differ by 0.05 of 255), with training and test rows shuffled. "
        "Both keep about 90.6 % of the variance."
    ),
    twin="cifar10-pca100-like(rows=50000, test_rows=10000)",
)
