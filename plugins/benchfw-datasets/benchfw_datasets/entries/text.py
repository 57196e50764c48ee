"""Word counts, and stored topics."""

from __future__ import annotations

from benchfw.data import ArraySpec, Dataset, RawFile

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/bag-of-words"
LOADERS = "benchfw_datasets.loaders.text"


def _counts() -> dict[str, ArraySpec]:
    return {
        "data": ArraySpec(("cells",), "uint8"),
        "indices": ArraySpec(("cells",), "uint16"),
        "indptr": ArraySpec(("documents + 1",), "int32"),
        "shape": ArraySpec((2,), "int32"),
        "vocab": ArraySpec(("words",), "text"),
        "half1": ArraySpec(("cells",), "uint8", optional=True),
        "train_idx": ArraySpec(("training",), "int32", optional=True),
        "test_idx": ArraySpec(("testing",), "int32", optional=True),
    }


def _topics(name: str, words: int, content: str, rounds: int) -> Dataset:
    return Dataset(
        f"{name}-theta-k10",
        f"Ten topics for {name}: beta, mu and Sigma of a correlated topic model",
        {
            "beta": ArraySpec((words, 10), "float32"),
            "mu": ArraySpec((10,), "float64"),
            "Sigma": ArraySpec((10, 10), "float64"),
        },
        f"derived from `{name}` by Laplace variational EM, {rounds} rounds, seed 0, 0.01 pseudo-counts",
        f"as {name}",
        contents={content: "the stored parameters"},
        sealed=True,
        by_hand="it is derived and has no home of its own",
        notes="Columns of beta sum to 1 up to float32: normalize after the cast to float64.",
        twin=f"{name}-theta-k10-like",
    )


AP = Dataset(
    "ap",
    "Associated Press: word counts of 2,246 articles, 10,473 words",
    _counts(),
    "Blei, Ng & Jordan, Latent Dirichlet Allocation, JMLR 3, 2003; articles of TREC-1, 1992",
    "word counts only; the articles are under TREC's terms",
    (RawFile("ap.tgz"),),
    f"{LOADERS}:lda_c",
    {"657d593482b6f64fe0f2b0f760a0f365aaa45fb39c24e239d2c40ee3fa5ef83e": "with stored split and halves"},
    size=678_623,
    by_hand=(
        "it no longer has a stable address: look for lda-c/ap.tgz on the pages of D. Blei "
        "(http://www.cs.columbia.edu/~blei/lda-c/)"
    ),
    notes=(
        "CSR counts, documents in rows: data, indices, indptr, shape. half1 is how many tokens of a cell "
        "belong to the document's first half; ap.tgz has neither it nor a split, and both are then drawn "
        "from a seed."
    ),
    lengths={"documents + 1": (2_247,), "words": (10_473,)},
    twin="ap-like",
    split=("fraction", 50),
)
NIPS = Dataset(
    "nips",
    "NIPS full papers: word counts of 1,500 papers",
    _counts(),
    "UCI Machine Learning Repository, Bag of Words (D. Newman, 2008)",
    "CC BY 4.0 (UCI): cite the donors",
    (
        RawFile("docword.nips.txt.gz", f"{UCI}/docword.nips.txt.gz"),
        RawFile("vocab.nips.txt", f"{UCI}/vocab.nips.txt"),
    ),
    f"{LOADERS}:bag_of_words",
    {
        "437077c093613a6560667ce30c36af192873381423d1d91b40a848b9e98cdfc8": (
            "the 7,605 words that occur more than 20 times, with stored split and halves"
        )
    },
    size=1_440_274,
    redistributable=True,
    notes=(
        "Two copies are in use. The official table has 12,419 words and 746,316 cells, no split and no "
        "halves (both are then drawn from a seed). The other one keeps the 7,605 words that occur more "
        "than 20 times (709,477 cells, 96.8 % of the tokens), in another order of documents, with "
        "stored split and halves. Numbers on the two cannot be compared; "
        "nips-theta-k10 belongs to the second."
    ),
    lengths={"documents + 1": (1_501,), "words": (7_605, 12_419)},
    twin="nips-like",
    split=("fraction", 50),
)
AP_THETA_K10 = _topics("ap", 10_473, "6450bac65e7d5b7dc8d4e2d38792b02690b86d7254e2daf9a0690ed36074b55c", 20)
NIPS_THETA_K10 = _topics(
    "nips", 7_605, "9ef347a265744114f3c3051c3b861b7333f0dbe987971989cfdb21cc96b140ca", 15
)
