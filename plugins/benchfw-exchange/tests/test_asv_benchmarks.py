"""Benchmarks for ASV are made from the registry and from suites."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchfw.backends import backend_names
from benchfw.errors import BenchfwError
from benchfw.measure import clock
from benchfw.registry import Registry
from benchfw_exchange.asv import identifier
from benchfw_exchange.asv_benchmarks import absent, kernel_benchmarks, method_benchmarks

TRACKED = sorted(Path(__file__).parents[3].glob("suites/tracked/*.toml"))

SUITE = """
seed = 3
budget = { iterations = 100 }
target = { gap = 1e-3 }
[[problem]]
use = "bowl"
[[problem]]
use = "bowl"
label = "wide"
size = 9
[[estimator]]
use = "noisy"
scale = 2.0
[[optimizer]]
use = "slide"
"""


NEWER = """
[[estimator]]
use = "newer"
[[optimizer]]
use = "slide"
label = "later"
estimator = { use = "newer" }
"""

SLIDE = """
[[optimizer]]
use = "slide"
label = "{label}"
step = {step}
"""


@pytest.fixture
def made(toys, tmp_path):
    """Return a function that makes the benchmarks of one kind of a suite."""

    def make(kind, text=SUITE):
        path = tmp_path / "bowls.toml"
        path.write_text(text)
        return method_benchmarks(kind, [path], [str(toys)])

    return make


def test_every_kernel_is_a_class_with_readable_parameters():
    found, registry = kernel_benchmarks(), Registry()
    assert set(found) == {identifier(name) for name in registry.entries("kernel")}
    with registry.activate():  # plugins have backends, too
        assert found["AddScaled"].params == (("size 10,000", "size 1,000,000"), backend_names())


def test_a_kernel_is_measured_as_in_a_trial_by_the_processors_time(monkeypatch):
    monkeypatch.setattr(clock, "_host_timer", clock.perf_counter)
    benchmark = kernel_benchmarks()["AddScaled"]()
    benchmark.setup("size 10,000", "numpy")
    assert not clock.is_wall_time()
    assert benchmark.track_seconds_per_call("size 10,000", "numpy") > 0
    assert benchmark.track_bytes_held() >= 2 * 80_000  # the argument and the result


def test_an_absent_backend_is_not_a_failure(monkeypatch):
    monkeypatch.setattr(clock, "_host_timer", clock.perf_counter)
    benchmark = kernel_benchmarks()["AddScaled"]
    trial = replace(benchmark.trials["size 10,000", "numpy"], backend="abacus")
    monkeypatch.setattr(benchmark, "trials", {("size 10,000", "abacus"): trial})
    with pytest.raises(NotImplementedError, match="unknown backend 'abacus'"):
        benchmark().setup("size 10,000", "abacus")


def test_an_estimator_is_a_class_whose_numbers_depend_on_the_seed_alone(made):
    ((name, kind),) = made("estimator").items()
    assert (name, kind.params) == ("BowlsNoisy", (("bowl", "wide"), ("numpy",)))
    once, again = kind(), kind()
    for benchmark in (once, again):
        benchmark.setup("wide", "numpy")
    assert once.track_variance("wide", "numpy") == again.track_variance("wide", "numpy")
    # nine coordinates of variance 4, known to a few per cent from a hundred draws
    assert once.track_variance() == pytest.approx(36, rel=4 * (2 / 900) ** 0.5)
    assert once.track_work_normalized_variance() == once.track_variance()  # a draw costs one


def test_an_optimizer_is_followed_to_the_target_of_the_suite(made):
    benchmark = made("optimizer")["BowlsSlide"]()
    benchmark.setup("bowl", "numpy")
    # each step leaves a quarter of the gap, which is a few units at the start: 4^6 is 4096
    assert benchmark.track_iterations_to_target() == benchmark.track_cost_to_target() == 6
    assert type(benchmark).track_cost_to_target.unit == "oracle calls"


def test_a_target_that_is_not_reached_is_a_failure_and_no_number(made):
    benchmark = made("optimizer", SUITE.replace("iterations = 100", "iterations = 2"))["BowlsSlide"]()
    with pytest.raises(RuntimeError, match="budget of 2 iterations"):
        benchmark.setup("bowl", "numpy")


def test_without_a_target_there_is_nothing_to_track(made):
    assert made("optimizer", SUITE.replace("target = { gap = 1e-3 }", "")) == {}


def test_another_suite_is_another_series_and_another_title_is_not(made):
    version = made("estimator")["BowlsNoisy"].version
    assert made("estimator", 'title = "Bowls"' + SUITE)["BowlsNoisy"].version == version
    assert made("estimator", SUITE.replace("seed = 3", "seed = 4"))["BowlsNoisy"].version != version


def test_what_a_commit_does_not_have_is_left_out_and_n_a(made):
    newer = SUITE + NEWER
    assert list(made("estimator", newer)) == ["BowlsNoisy"]
    assert list(made("optimizer", newer)) == ["BowlsSlide"]
    for kind in ("track_variance", "track_cost_to_target", "track_seconds_per_call", "track_bytes_held"):
        assert callable(getattr(absent("BowlsNewer"), kind))
    with pytest.raises(NotImplementedError, match="BowlsNewer is not in this commit"):
        absent("BowlsNewer")().setup("bowl", "numpy")
    with pytest.raises(AttributeError):
        absent("timeout")


def test_two_methods_of_one_name_are_an_error(made):
    text = SUITE + SLIDE.format(label="Slide+", step=0.1) + SLIDE.format(label="slide plus", step=0.2)
    with pytest.raises(
        BenchfwError, match="would be called BowlsSlidePlus; give 'bowls slide plus' another label"
    ):
        made("optimizer", text)


@pytest.mark.families
def test_every_estimator_and_optimizer_of_the_tracked_suites_is_tracked():
    assert len(method_benchmarks("estimator", TRACKED)) >= 10
    assert len(method_benchmarks("optimizer", TRACKED)) >= 10
