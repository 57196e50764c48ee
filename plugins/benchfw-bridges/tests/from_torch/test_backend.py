"""torch as a backend: NumPy's random numbers, NumPy's kernels, NumPy's iterates."""

from __future__ import annotations

import copy
import pickle
from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest
import scipy.sparse

from benchfw.backends import get_backend, owner_of
from benchfw.plan import missing_oracles
from benchfw.registry import Registry
from benchfw.testing import checks_for, subjects_of
from benchfw.testing.checks.portability import assert_agree, on_host
from benchfw.testing.pytest_plugin import BoundCheck

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

REGISTRY = Registry()
KERNELS = REGISTRY.entries("kernel")
SIZES = (0, 1, 2, 17, 64, 501)
STEPS = 20
BACKENDS = ("numpy", "torch")
CHECKS = [
    BoundCheck(subject, check)
    for subject in subjects_of("benchfw_bridges")
    if str(subject) == "backend torch"
    for check in checks_for("backend")
]


@pytest.fixture(autouse=True)
def backends():
    with REGISTRY.activate():
        yield


def every_second(array):
    """Return a tensor's numbers as every second entry of a larger tensor."""
    if not hasattr(array, "new_zeros") or not array.ndim:
        return array
    wide = array.new_zeros((*array.shape[:-1], 2 * array.shape[-1]))
    wide[..., ::2] = array
    return wide[..., ::2]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_backend_passes_the_conformance_checks(check):
    check()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gives_the_numbers_of_numpy(name):
    kernel, sample = KERNELS[name].factory, KERNELS[name].sample
    host, own = get_backend("numpy"), get_backend("torch")
    for size in SIZES:
        wanted = kernel.portable(*sample(host, host.rng(31), size))
        given = sample(own, own.rng(31), size)
        for arguments in (given, [every_second(each) for each in given]):
            assert_agree(on_host(own, kernel(*arguments)), on_host(host, wanted), kernel.tolerance)


TABLES = [
    {"use": name, **table, **({"samples": 60} if "samples" in table else {})}  # a batch is of 32
    for name, entry in REGISTRY.entries("problem").items()
    if entry.plugin.distribution == "benchfw-firstorder"
    for table in entry.factory.check_with
]
METHODS = [
    REGISTRY.build("optimizer", {"use": name})
    for name, entry in REGISTRY.entries("optimizer").items()
    if entry.plugin.distribution == "benchfw-firstorder"
]


def can_run(method, problem):
    needed = [method.solves, *([method.estimator.solves] if hasattr(method, "estimator") else [])]
    return not any(missing_oracles(each, type(problem)) for each in needed)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: "-".join(map(str, table.values())))
def test_the_optimizers_of_first_order_give_the_iterates_of_numpy(table):
    problems = [REGISTRY.build("problem", table, each, each.rng(3)) for each in map(get_backend, BACKENDS)]
    metrics = [each.metrics(each.start()) for each in problems]
    assert metrics[1] == pytest.approx(metrics[0], rel=1e-9)
    methods = [each for each in METHODS if can_run(each, problems[0])]
    assert len(methods) >= 5
    for method in methods:
        wanted, found = (
            [each.backend.to_numpy(x) for x in islice(method.run(each, each.backend.rng(5)), STEPS)]
            for each in problems
        )
        if type(method).__name__ == "LBFGS":  # its line search may decide by the last digits of a value
            first, *ends = (problems[0].value(x) for x in (wanted[0], found[-1], wanted[-1]))
            assert ends[0] == pytest.approx(ends[1], abs=1e-3 * (first - ends[1]))
        else:
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_what_is_made_without_a_type_is_double_as_in_numpy():
    xp = get_backend("torch").xp
    made = [xp.zeros(2), xp.ones(2), xp.empty(2), xp.eye(2), xp.linspace(0, 1, 3), xp.full(2, 0.5)]
    made += [xp.asarray([1.0]), xp.arange(1.0, 3), xp.where(xp.asarray([True]), 1.0, -1.0)]
    assert {each.dtype for each in made} == {xp.float64}
    assert {each.dtype for each in (xp.arange(3), xp.full(2, 1), xp.asarray([1]))} == {xp.int64}


def test_types_may_be_given_as_those_of_numpy_or_by_name():
    backend = get_backend("torch")
    xp = backend.xp
    assert (
        xp.zeros(2, dtype=np.float32).dtype == xp.zeros_like(xp.eye(2), dtype="float32").dtype == xp.float32
    )
    assert backend.asarray([1, 2], dtype=np.float32).dtype == xp.float32
    assert backend.rng(1).standard_normal(3, xp.float32).dtype == xp.float32


def test_an_array_of_numpy_shares_its_memory_and_one_that_cannot_be_written_is_copied():
    backend = get_backend("torch")
    array = np.zeros(3)
    backend.asarray(array)[0] = 1.0
    assert array[0] == 1.0
    array.flags.writeable = False
    backend.asarray(array)[1] = 1.0
    assert array[1] == 0.0
    assert backend.to_numpy(backend.asarray(np.arange(3.0)[::-1])).tolist() == [2.0, 1.0, 0.0]


def test_a_sparse_matrix_becomes_compressed_rows():
    backend = get_backend("torch")
    matrix = scipy.sparse.random_array((5, 4), density=0.5, rng=np.random.default_rng(1))
    block = np.arange(8.0).reshape(4, 2)
    product = backend.to_numpy(backend.sparse_rows(matrix) @ backend.asarray(block))
    np.testing.assert_allclose(product, matrix @ block, rtol=1e-14)


def test_a_backend_is_copied_and_pickled_by_its_name():
    backend = get_backend("torch")
    assert copy.deepcopy(backend) is pickle.loads(pickle.dumps(backend)) is backend


def test_arrays_of_two_libraries_are_told_apart():
    backend = get_backend("torch")
    assert owner_of(np.zeros(1)) == "numpy"
    assert owner_of(backend.xp.zeros(1)) == "torch"
    assert isinstance(get_backend("numpy").asarray(backend.xp.zeros(1)), np.ndarray)
