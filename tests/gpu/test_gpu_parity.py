"""On a GPU: the same bits, the same normals, the same draws, and kernels that agree with the host's."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import kernels
from benchfw.backends import Rng, get_backend
from benchfw.backends.normals import box_muller
from benchfw.errors import BackendUnavailable
from benchfw.registry import Registry
from benchfw.testing.checks.portability import assert_agree, on_host

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

REGISTERED = [(entry.factory, entry.sample) for entry in Registry().entries("kernel").values()]

DRAWS = {
    "bits": lambda rng: rng.bits(1001, start=3),
    "rademacher": lambda rng: rng.rademacher((501, 13)),
    "rademacher float32": lambda rng: rng.rademacher(129, dtype=np.float32),
    "random": lambda rng: rng.random(100_001),
    "random float32": lambda rng: rng.random((3, 333), dtype=np.float32),
    "integers": lambda rng: rng.integers(-3, 12, size=(300, 40)),
    "wide integers": lambda rng: rng.integers(-(1 << 63), 1 << 63, size=1000),
    "large integers": lambda rng: rng.integers(0, 3 << 40, size=1000),
    "permutation": lambda rng: rng.permutation(100_001),
    "permutation of rows": lambda rng: rng.permutation(rng.backend.asarray(np.arange(30.0).reshape(10, 3))),
    "choice": lambda rng: rng.choice(11, size=(60, 7)),
    "choice of few": lambda rng: rng.choice(10_000, size=1000, replace=False),
    "choice of many": lambda rng: rng.choice(1001, size=600, replace=False),
    "choice weighted": lambda rng: rng.choice(4, size=(100, 60), p=[0.2, 0.0, 0.5, 0.3]),
    "choice of rows": lambda rng: rng.choice(rng.backend.asarray(np.arange(30.0).reshape(10, 3)), size=5),
    "standard normal": lambda rng: rng.standard_normal((301, 5)),
    "standard normal float32": lambda rng: rng.standard_normal(9001, dtype=np.float32),
    "normals of several calls": lambda rng: rng.standard_normals(5, (3, 7), np.float32),
    "few standard normals": lambda rng: rng.standard_normal(7),
    "no standard normals": lambda rng: rng.standard_normal(0),
    "normal": lambda rng: rng.normal(2.0, 0.3, size=9001),
    "no signs": lambda rng: rng.rademacher(0),
    "no integers": lambda rng: rng.integers(5, size=0),
    "no permutation": lambda rng: rng.permutation(0),
    "no choice": lambda rng: rng.choice(5, size=0, replace=False),
    "no weighted choice": lambda rng: rng.choice(2, size=0, p=[0.5, 0.5]),
}

SCALARS = {
    "uniform": lambda rng: rng.random(),
    "integer": lambda rng: rng.integers(10),
    "choice": lambda rng: rng.choice(rng.backend.asarray(np.arange(5.0))),
    "normal": lambda rng: rng.standard_normal(),
}


def same_bits(one: np.ndarray, other: np.ndarray) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    np.testing.assert_array_equal(
        np.ascontiguousarray(one).view(np.uint8), np.ascontiguousarray(other).view(np.uint8)
    )


def test_words_are_equal_at_random_addresses():
    addresses = np.random.default_rng(5)
    for _ in range(200):
        seed, stream, block = (int(part) for part in addresses.integers(0, 1 << 64, 3, dtype=np.uint64))
        start, count = int(addresses.integers(0, 1 << 60)), int(addresses.integers(0, 5000))
        same_bits(
            CUPY.to_numpy(CUPY.bits(seed, stream, block, start, count)),
            NUMPY.bits(seed, stream, block, start, count),
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_four_million_normals_are_equal_to_the_last_bit(dtype):
    count = 1 << 22
    on_device = Rng(CUPY, 77).standard_normal(count, dtype)
    assert isinstance(on_device, CUPY.xp.ndarray)
    same_bits(CUPY.to_numpy(on_device), Rng(NUMPY, 77).standard_normal(count, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_array_code_gives_the_bits_of_the_fused_kernel(dtype):
    # through array_api_compat every operation is a kernel of its own, which contraction cannot reach
    import array_api_compat.cupy

    words = CUPY.bits(78, 0, 0, 0, 1 << 20)
    one_by_one = box_muller(array_api_compat.cupy, words, dtype)
    same_bits(CUPY.to_numpy(one_by_one), CUPY.to_numpy(box_muller(CUPY.xp, words, dtype)))


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_is_equal_on_both_backends(name):
    on_device = DRAWS[name](Rng(CUPY, 9, stream=4, block=2))
    assert isinstance(on_device, CUPY.xp.ndarray)
    same_bits(CUPY.to_numpy(on_device), DRAWS[name](Rng(NUMPY, 9, stream=4, block=2)))


@pytest.mark.parametrize("name", SCALARS)
def test_a_number_is_equal_on_both_backends_and_plain_python(name):
    number = SCALARS[name](Rng(CUPY, 9))
    assert type(number) in {int, float}
    assert number == SCALARS[name](Rng(NUMPY, 9))


@pytest.mark.parametrize("size", [0, 1, 2, 17, 20_001])
@pytest.mark.parametrize(
    ("kernel", "sample"), [pytest.param(*entry, id=entry[0].name) for entry in REGISTERED]
)
def test_a_kernel_agrees_on_both_backends(kernel, sample, size):
    host = kernel(*sample(NUMPY, NUMPY.rng(31), size))
    device_arguments = sample(CUPY, CUPY.rng(31), size)
    for result in (kernel(*device_arguments), kernel.portable(*device_arguments)):
        assert_agree(on_host(CUPY, result), host, kernel.tolerance)


@pytest.mark.families
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_soft_thresholding_on_the_gpu_keeps_types_and_nan(dtype):
    from benchfw_firstorder.kernels.thresholding import soft_threshold

    values = np.array([np.nan, 2.0, -2.0, 0.1], dtype=dtype)
    for threshold in (0.5, np.float64(0.5), CUPY.asarray(np.full(4, 0.5))):
        result = CUPY.to_numpy(soft_threshold(CUPY.asarray(values), threshold))
        same_bits(result[1:], np.array([1.5, -1.5, 0.0], dtype=dtype))
        assert np.isnan(result[0])


def test_transfers_and_facts():
    values = np.arange(5.0)
    on_device = CUPY.asarray(values)
    assert CUPY.asarray(on_device).data.ptr == on_device.data.ptr  # not copied
    np.testing.assert_array_equal(CUPY.to_numpy(on_device), values)
    np.testing.assert_array_equal(NUMPY.asarray(on_device), values)
    CUPY.synchronize()
    assert CUPY.memory() >= on_device.nbytes
    facts = CUPY.describe()
    assert {"device", "cupy", "cuda_runtime", "cuda_driver"} <= facts.keys()
    assert all(isinstance(value, str) and value for value in facts.values())


@pytest.mark.parametrize("coordinates", [1, 16, 17, 60])
def test_a_gram_of_few_or_many_coordinates_agrees_and_is_symmetric_to_the_last_bit(coordinates):
    points = 10.0 + Rng(NUMPY, 4).standard_normal((301, coordinates))
    on_device = CUPY.asarray(points)
    for function in (kernels.gaussian_gram, kernels.gaussian_gram_length_derivative):
        gram = CUPY.to_numpy(function(on_device, on_device, 1.5))
        np.testing.assert_allclose(gram, function(points, points, 1.5), rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.families
@pytest.mark.parametrize("outputs", [1, 10, 81])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_over_features_agree_for_any_number_of_outputs(outputs, dtype):
    from benchfw_kernelmachines.kernels.random_features import feature_scores

    def arguments(backend):
        rng = Rng(backend, 6)
        rows, blocks = rng.standard_normal((77, 9), dtype), rng.standard_normal((9, 3, 40), dtype)

        def frequencies(numbers):
            return blocks[:, numbers.start : numbers.stop].reshape(9, -1)

        return rows, frequencies, list(rng.standard_normal((3, 2, 40, outputs), dtype)), outputs

    on_device = CUPY.to_numpy(feature_scores(*arguments(CUPY)))
    tolerance = 2e-4 if dtype is np.float32 else 1e-11
    np.testing.assert_allclose(on_device, feature_scores(*arguments(NUMPY)), atol=tolerance)


def test_a_gram_of_two_precisions_has_the_higher_one():
    points = Rng(NUMPY, 4).standard_normal((30, 2))
    single = points.astype(np.float32)
    gram = kernels.gaussian_gram(CUPY.asarray(single), CUPY.asarray(points), 1.5)
    assert gram.dtype == np.float64
    np.testing.assert_allclose(CUPY.to_numpy(gram), kernels.gaussian_gram(points, points, 1.5), atol=1e-6)
