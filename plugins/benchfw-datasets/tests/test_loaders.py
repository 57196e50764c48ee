"""Raw formats: files written as their homes write them are read back exactly."""

import bz2
import gzip
import io
import tarfile
import zipfile

import numpy as np
import pytest

from benchfw import data
from benchfw.data import get_dataset, resolve_function
from benchfw.errors import DataError

RNG = np.random.default_rng(0)


def parsed(name, files):
    return resolve_function(name, get_dataset(name).loader)(files)


def one(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return {name: path}


def zipped(tmp_path, name, member, text):
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/README", "read me")
        archive.writestr(member, text)
    return {name: tmp_path / name}


def tarred(tmp_path, name, **members):
    with tarfile.open(tmp_path / name, "w:gz") as archive:
        for member, content in members.items():
            info = tarfile.TarInfo(f"folder/{member}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return {name: tmp_path / name}


def test_movielens_tabs(tmp_path):
    files = zipped(
        tmp_path, "ml-100k.zip", "ml-100k/u.data", "2\t7\t3\t881250949\n1\t9\t5\t891717742\n1\t3\t1\t8\n"
    )
    arrays = parsed("movielens-100k", files)
    assert arrays["user"].tolist() == [1, 1, 2]
    assert arrays["item"].tolist() == [3, 9, 7]
    assert arrays["rating"].tolist() == [1, 5, 3]
    assert arrays["timestamp"].tolist() == [8, 891717742, 881250949]
    assert [arrays[key].dtype.name for key in ("user", "item", "rating", "timestamp")] == [
        "int16",
        "int16",
        "int8",
        "int32",
    ]


def test_movielens_double_colons_and_half_stars(tmp_path):
    files = zipped(
        tmp_path,
        "ml-10m.zip",
        "ml-10M100K/ratings.dat",
        "71567::65133::4.5::912580553\n1::122::5::838985046\n",
    )
    arrays = parsed("movielens-10m", files)
    assert arrays["user"].tolist() == [1, 71567]
    assert arrays["rating"].tolist() == [5.0, 4.5]
    assert [arrays[key].dtype.name for key in ("user", "item", "rating")] == ["int32", "int32", "float32"]


def test_sonar_and_ionosphere(tmp_path):
    arrays = parsed("sonar", one(tmp_path, "sonar.all-data", "0.0200,0.0371,R\n0.0453,0.0523,M\n"))
    np.testing.assert_array_equal(arrays["X"], [[0.02, 0.0371], [0.0453, 0.0523]])
    assert arrays["y"].tolist() == [-1, 1]
    arrays = parsed("ionosphere", one(tmp_path, "ionosphere.data", "1,0,0.99539,g\r\n0,0,-0.05889,b\r\n"))
    assert arrays["y"].tolist() == [-1, 1]
    assert arrays["X"].dtype == np.float64


def test_usps(tmp_path):
    from scipy.io import savemat

    patterns = {f"{part}_patterns": RNG.uniform(-1, 1, (256, 60)) for part in ("train", "test")}
    digits = {part: RNG.integers(0, 10, 60) for part in ("train", "test")}
    labels = {
        f"{part}_labels": np.where(np.arange(10)[:, None] == each, 1.0, -1.0) for part, each in digits.items()
    }
    savemat(tmp_path / "usps_resampled.mat", patterns | labels)
    arrays = parsed("usps-2vs4", {"usps_resampled.mat": tmp_path / "usps_resampled.mat"})
    training = np.isin(digits["train"], [2, 4]).sum()
    assert len(arrays["train_idx"]) == training
    assert arrays["digits"].tolist() == [2, 4]
    first = np.flatnonzero(digits["train"] == 2)
    np.testing.assert_array_equal(
        arrays["X"][: len(first)], patterns["train_patterns"].T[first].astype(np.float32)
    )
    assert (arrays["y"][: len(first)] == 1).all()


def test_adult(tmp_path):
    files = one(tmp_path, "a9a", "-1 3:1 11:1 123:1 \n+1 5:1 \n") | one(tmp_path, "a9a.t", "-1 1:1\n")
    arrays = parsed("adult", files)
    bits = np.unpackbits(arrays["x_train_bits"], axis=1)[:, :123]
    assert [np.flatnonzero(row).tolist() for row in bits] == [[2, 10, 122], [4]]
    assert arrays["y_train"].tolist() == [-1, 1]
    assert arrays["x_test_bits"].shape == (1, 16)


def test_libsvm_is_read_in_blocks(tmp_path):
    from benchfw_datasets.loaders.libsvm import blocks

    dense = np.round(RNG.uniform(size=(7, 5)), 3).astype(np.float32)
    dense[2] = 0
    lines = [
        f"{n} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for n, row in enumerate(dense)
    ]
    (tmp_path / "x.bz2").write_bytes(bz2.compress("\n".join(lines).encode()))
    found = list(blocks(tmp_path / "x.bz2", 5, np.float32, rows=3))
    assert [len(y) for _, y in found] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate([x for x, _ in found]), dense)
    np.testing.assert_array_equal(np.concatenate([y for _, y in found]), np.arange(7))
    with pytest.raises(ValueError, match="an index outside 1 … 4"):
        list(blocks(tmp_path / "x.bz2", 4, np.float32))


def test_mnist_8m_and_epsilon_come_in_pieces(tmp_path):
    (tmp_path / "mnist8m.bz2").write_bytes(bz2.compress(b"5 1:3 784:255\n0 2:7\n"))
    (piece,) = parsed("mnist-8m", {"mnist8m.bz2": tmp_path / "mnist8m.bz2"})
    assert piece["x"].shape == (2, 784)
    assert piece["x"].dtype == piece["y"].dtype == np.uint8
    assert piece["x"][0, 783] == 255
    files = {}
    for name, label in (("epsilon_normalized.bz2", "1"), ("epsilon_normalized.t.bz2", "-1")):
        (tmp_path / name).write_bytes(bz2.compress(f"{label} 1:-0.0108282 2000:0.5\n".encode()))
        files[name] = tmp_path / name
    train, test = parsed("epsilon", files)
    assert train["x_train"].shape == (1, 2000)
    assert test["y_test"].tolist() == [-1]


def test_covtype(tmp_path):
    rows = np.concatenate([RNG.integers(-100, 4000, (4, 54)), [[5], [1], [7], [2]]], axis=1)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    arrays = parsed("covtype", one(tmp_path, "covtype.data.gz", gzip.compress(text.encode())))
    np.testing.assert_array_equal(arrays["x"], rows[:, :-1])
    assert arrays["y"].tolist() == [5, 1, 7, 2]
    assert (arrays["x"].dtype, arrays["y"].dtype) == (np.int16, np.uint8)


def test_mnist_idx_files(tmp_path):
    files, expected = {}, {}
    for part, prefix, count in (("train", "train", 5), ("test", "t10k", 3)):
        for key, kind, shape in (("x", "images-idx3", (count, 28, 28)), ("y", "labels-idx1", (count,))):
            array = RNG.integers(0, 256, shape).astype(np.uint8)
            head = bytes([0, 0, 8, len(shape)]) + np.array(shape, ">u4").tobytes()
            name = f"{prefix}-{kind}-ubyte.gz"
            files |= one(tmp_path, name, gzip.compress(head + array.tobytes()))
            expected[f"{key}_{part}"] = array
    arrays = parsed("mnist", files)
    for key, array in expected.items():
        np.testing.assert_array_equal(arrays[key], array)
    files |= one(tmp_path, "t10k-labels-idx1-ubyte.gz", gzip.compress(b"no idx file"))
    with pytest.raises(ValueError, match="not an idx file"):
        parsed("mnist", files)


@pytest.fixture
def cifar(tmp_path, monkeypatch):
    monkeypatch.setattr("benchfw_datasets.loaders.images.SIDE", 12)  # 3,072 columns would take seconds
    pictures = RNG.integers(0, 256, (120, 12, 12, 3)).astype(np.uint8)
    labels = RNG.integers(0, 10, 120).astype(np.uint8)
    records = np.concatenate([labels[:, None], pictures.transpose(0, 3, 1, 2).reshape(120, -1)], axis=1)
    names = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]
    members = {name: records[20 * n : 20 * (n + 1)].tobytes() for n, name in enumerate(names)}
    return tarred(tmp_path, "cifar-10-binary.tar.gz", **members), pictures, labels


def test_cifar_binary_batches(cifar):
    files, pictures, labels = cifar
    arrays = parsed("cifar10", files)
    np.testing.assert_array_equal(arrays["x_train"], pictures[:100])
    np.testing.assert_array_equal(arrays["y_test"], labels[100:])


def test_cifar_components_lead_back_to_the_pictures(cifar):
    files, pictures, _ = cifar
    arrays = {key: value.astype(np.float64) for key, value in parsed("cifar10-pca100", files).items()}
    # a hundred pictures lie in the span of their own first hundred components
    back = arrays["x_train"] @ arrays["pca_components"] + arrays["pca_mean"]
    np.testing.assert_allclose(back, pictures[:100].reshape(100, -1) / 255, atol=0.02)
    assert (np.diff(arrays["explained"]) <= 0).all()


def test_word_counts(tmp_path):
    files = one(tmp_path, "docword.nips.txt.gz", gzip.compress(b"2\n3\n3\n1 3 7\n1 1 2\n2 2 1\n"))
    files |= one(tmp_path, "vocab.nips.txt", "alpha\nbeta\ngamma\n")
    for_lda = tarred(
        tmp_path, "ap.tgz", **{"ap.dat": b"2 2:7 0:2\n1 1:1\n", "vocab.txt": b"alpha\nbeta\ngamma\n"}
    )
    for arrays in (parsed("nips", files), parsed("ap", for_lda)):
        assert arrays["indptr"].tolist() == [0, 2, 3]
        assert arrays["indices"].tolist() == [0, 2, 1]
        assert arrays["data"].tolist() == [2, 7, 1]
        assert arrays["shape"].tolist() == [2, 3]
        assert arrays["vocab"].tolist() == ["alpha", "beta", "gamma"]
    files |= one(tmp_path, "docword.nips.txt.gz", gzip.compress(b"2\n3\n9\n1 3 7\n"))
    with pytest.raises(ValueError, match="1 cells, not the 9"):
        parsed("nips", files)


def test_uci_tables(tmp_path):
    table = RNG.normal(size=(19, 4))
    mask = RNG.integers(0, 2, (19, 10))
    data = "\n".join(",".join(repr(float(v)) for v in row) for row in table)
    masks = "\n".join(",".join(map(str, row)) for row in mask)
    files = one(tmp_path, "data.csv.gz", gzip.compress(data.encode()))
    files |= one(tmp_path, "test_mask.csv.gz", gzip.compress(masks.encode()))
    arrays = parsed("uci-bike", files)
    np.testing.assert_array_equal(arrays["x"], table[:, :-1].astype(np.float32))
    np.testing.assert_array_equal(arrays["y"], table[:, -1].astype(np.float32))
    np.testing.assert_array_equal(np.unpackbits(arrays["test_mask"], axis=0)[:19], mask)


def test_songs(tmp_path):
    row = ",".join(["2001", *(f"{value:.5f}" for value in RNG.normal(0, 100, 90))])
    arrays = parsed(
        "year-msd", zipped(tmp_path, "YearPredictionMSD.txt.zip", "YearPredictionMSD.txt", f"{row}\n{row}\n")
    )
    assert arrays["y"].tolist() == [2001, 2001]
    assert arrays["x"].shape == (2, 90)


WEATHER = """Formatted Date,Summary,Precip Type,Temperature (C),Apparent Temperature (C),Humidity,\
Wind Speed (km/h),Wind Bearing (degrees),Visibility (km),Loud Cover,Pressure (millibars),Daily Summary
2006-04-01 00:00:00.000 +0200,"Windy, Dry",rain,9.25,7.5,0.89,14.1,251.0,15.8,0.0,1015.13,Cloudy.
2006-01-01 00:00:00.000 +0100,Clear,null,0.5,-4.0,0.5,16.2,140.0,9.9,0.0,1016.66,Clear.
"""


def test_weather_is_sorted_by_time(tmp_path):
    arrays = parsed("szeged-weather", one(tmp_path, "weatherHistory.csv", WEATHER))
    assert arrays["unix_time"].tolist() == [1136070000, 1143842400]
    assert arrays["precip"].tolist() == [0, 1]
    assert arrays["temp_c"].tolist() == [0.5, 9.25]
    assert set(arrays) == set(get_dataset("szeged-weather").arrays)


def test_sound(tmp_path):
    from scipy.io import savemat

    wave = RNG.normal(size=40)
    positions = np.arange(1.0, 41)
    start = {"cov": np.log([10.0, 0.07]), "lik": np.log(0.01), "mean": np.empty(0)}
    content = {
        "xfull": positions,
        "yfull": wave,
        "xtest": positions[5:8],
        "xtrain": positions[8:],
        "hypc": start,
    }
    savemat(tmp_path / "audio_data.mat", content)
    arrays = parsed("sound", {"audio_data.mat": tmp_path / "audio_data.mat"})
    np.testing.assert_array_equal(arrays["y"], wave.astype(np.float32))
    assert np.flatnonzero(np.unpackbits(arrays["test"])[:40]).tolist() == [5, 6, 7]
    np.testing.assert_allclose(arrays["hyp_ell_sf_sn"], [10, 0.07, 0.01])


@pytest.mark.parametrize(
    "name", ["ap", "nips", "movielens-1m", "sound", "usps-2vs4", "mnist-8m", "szeged-weather"]
)
def test_an_empty_file_is_not_a_data_set(cache, tmp_path, name):
    files = [tmp_path / each.name for each in get_dataset(name).files]
    for path in files:
        path.write_bytes(b"")
    with pytest.raises(DataError):
        data.import_files(name, files)
    assert name not in data.local_datasets()
