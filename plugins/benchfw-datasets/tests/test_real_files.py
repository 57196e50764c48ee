"""The real files, where BENCHFW_DATA names a folder that has them; none is kept in this repository."""

import gzip
import zipfile
from datetime import UTC, datetime

import numpy as np
import pytest

from benchfw import data
from benchfw.data import content_hash, get_dataset, resolve_function
from benchfw_datasets.loaders.series import COLUMNS

SHAPES = {
    "movielens-100k": {"user": (100_000,), "timestamp": (100_000,)},
    "movielens-1m": {"rating": (1_000_203,), "probe": (125_026,)},
    "sound": {"y": (60_000,), "hyp_ell_sf_sn": (3,)},
    "szeged-weather": {"unix_time": (96_453,), "pressure_mb": (96_453,)},
    "sonar": {"X": (208, 60), "train_idx": (165,), "test_idx": (43,)},
    "ionosphere": {"X": (351, 34), "train_idx": (280,), "test_idx": (71,)},
    "usps-3vs5": {"X": (1540, 256), "train_idx": (767,), "test_idx": (773,)},
    "usps-2vs4": {"X": (1781, 256), "train_idx": (884,), "test_idx": (897,)},
    "ap": {"data": (302_031,), "vocab": (10_473,), "train_idx": (1123,), "half1": (302_031,)},
    "nips": {"data": (709_477,), "vocab": (7605,), "train_idx": (750,), "half1": (709_477,)},
    "ap-theta-k10": {"beta": (10_473, 10), "mu": (10,), "Sigma": (10, 10)},
    "nips-theta-k10": {"beta": (7605, 10), "mu": (10,), "Sigma": (10, 10)},
    "mnist": {"x_train": (60_000, 28, 28), "x_test": (10_000, 28, 28)},
    "cifar10-pca100": {"x_train": (50_000, 100), "pca_components": (100, 3072)},
    "adult": {"x_train_bits": (32_561, 16), "x_test_bits": (16_281, 16)},
    "uci-protein": {"x": (45_730, 9)},
    "uci-kin40k": {"x": (40_000, 8)},
    "uci-keggundirected": {"x": (63_608, 27)},
    "uci-bike": {"x": (17_379, 17)},
    "uci-elevators": {"x": (16_599, 18)},
    "uci-pol": {"x": (15_000, 26)},
    "year-msd-sample": {"x": (1176, 90)},
}
SPLITS = {
    "movielens-100k": (90_000, 10_000),
    "movielens-1m": (900_000, 100_203),
    "sound": (59_309, 691),
    "szeged-weather": (16_930, 590),
    "sonar": (165, 43),
    "ionosphere": (280, 71),
    "usps-2vs4": (884, 897),
    "usps-3vs5": (767, 773),
    "ap": (1123, 1123),
    "nips": (750, 750),
    "uci-kin40k": (36_000, 4_000),
    "mnist": (60_000, 10_000),
}


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", SHAPES)
def test_a_real_file_loads_by_its_name_with_the_content_that_the_catalog_knows(name):
    arrays = data.load(name)
    for key, shape in SHAPES[name].items():
        assert arrays[key].shape == shape
    found = data.verify(name)
    assert not found.fault
    assert found.checked.startswith("content hash: ")
    assert data.fingerprint(name) in get_dataset(name).contents


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", SPLITS)
def test_a_real_set_is_split_as_in_the_papers(name):
    split = data.split(name)
    assert (len(split.train), len(split.test)) == SPLITS[name]
    assert not np.intersect1d(split.train, split.test).size


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["sonar", "ionosphere"])
def test_the_rule_finds_the_rows_that_are_stored(name):
    arrays = data.load(name)
    stored = data.split(name, arrays=arrays)
    bare = {key: arrays[key] for key in ("X", "y")}
    ruled = data.split(name, arrays=bare)
    np.testing.assert_array_equal(np.sort(stored.test), ruled.test)
    np.testing.assert_array_equal(np.sort(stored.train), ruled.train)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("name", ["mnist"])
def test_deformed_digits_come_from_the_real_ones(name):
    arrays = data.load("mnist-8m-like(rows=300)")
    assert arrays["x"].shape == (300, 784)
    assert sorted(np.unique(arrays["y"])) == list(range(10))


def raw_ratings(arrays, folder):
    columns = [arrays[key] for key in ("user", "item", "rating", "timestamp")]
    rows = np.random.default_rng(0).permutation(np.stack(columns, axis=1))
    with zipfile.ZipFile(folder / "ml-100k.zip", "w") as archive:
        archive.writestr("ml-100k/u.data", "".join("\t".join(map(str, row)) + "\n" for row in rows.tolist()))


def raw_adult(arrays, folder):
    for part, name in (("train", "a9a"), ("test", "a9a.t")):
        bits = np.unpackbits(arrays[f"x_{part}_bits"], axis=1)
        rows = zip(bits, arrays[f"y_{part}"], strict=True)
        lines = [f"{y:+d} " + " ".join(f"{j + 1}:1" for j in np.flatnonzero(x)) + " \n" for x, y in rows]
        (folder / name).write_text("".join(lines))


def raw_table(arrays, folder):
    table = np.concatenate([arrays["x"], arrays["y"][:, None]], axis=1)
    mask = np.unpackbits(arrays["test_mask"], axis=0)[: len(table)]
    for name, rows, style in (("data", table, "%.9g"), ("test_mask", mask, "%d")):
        with gzip.open(folder / f"{name}.csv.gz", "wt", compresslevel=1) as file:
            np.savetxt(file, rows, style, delimiter=",")


def raw_digits(arrays, folder):
    for part, prefix in (("train", "train"), ("test", "t10k")):
        for key, kind in (("x", "images-idx3"), ("y", "labels-idx1")):
            array = arrays[f"{key}_{part}"]
            head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
            with gzip.open(folder / f"{prefix}-{kind}-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(head + array.tobytes())


def raw_weather(arrays, folder):
    names = ["Formatted Date", "Precip Type", *COLUMNS.values()]
    times = [datetime.fromtimestamp(int(each), UTC) for each in arrays["unix_time"]]
    stamps = [f"{each:%Y-%m-%d %H:%M:%S}.000 +0000" for each in times]
    kinds = np.array(["null", "rain", "snow"])[arrays["precip"]]
    columns = [[f"{value:.9g}" for value in arrays[key].tolist()] for key in COLUMNS]
    lines = [",".join(row) for row in zip(stamps, kinds, *columns, strict=True)]
    (folder / "weatherHistory.csv").write_text("\n".join([",".join(names), *lines]))


RAW = {
    "movielens-100k": raw_ratings,
    "adult": raw_adult,
    "uci-pol": raw_table,
    "mnist": raw_digits,
    "szeged-weather": raw_weather,
}


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] * (name == "szeged-weather")) for name in RAW]
)
@pytest.mark.sampled(2)
def test_the_raw_format_leads_to_the_content_that_the_catalog_knows(name, tmp_path):
    raw = tmp_path / "raw"
    raw.mkdir()
    RAW[name](data.load(name), raw)
    entry = get_dataset(name)
    arrays = resolve_function(name, entry.loader)({file.name: raw / file.name for file in entry.files})
    assert content_hash(arrays) in entry.contents
