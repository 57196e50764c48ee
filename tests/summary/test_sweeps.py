"""Methods that differ in one number are a curve; the verdict says who is lowest along it."""

from dataclasses import replace

import pytest

from benchfw.records import Cell, Spec
from benchfw.report.captions import caption
from benchfw.report.figures.plot import styles_of
from benchfw.report.figures.quantities import sweep_figures
from benchfw.report.tables import headline_table
from benchfw.report.verdicts import verdict
from benchfw.summary.summarize import summarize
from benchfw.summary.sweeps import find_sweep


def specs(*tables):
    return {
        Cell("p", "estimator", f"m{i}", "numpy"): Spec("chebyshev", table) for i, table in enumerate(tables)
    }


def law(use, mean):
    return {"probes": 10, "distribution": {"use": use, "mean": mean}}


def test_the_number_with_most_values_is_the_sweep_and_the_rest_names_the_families():
    sweep = find_sweep(specs(*(law(use, mean) for use in ("optimal", "poisson") for mean in (20, 5, 10))))
    assert sweep.parameter == "mean"
    assert list(sweep.curves) == ["chebyshev (optimal)", "chebyshev (poisson)"]
    assert list(sweep.families["chebyshev (optimal)"]) == [5.0, 10.0, 20.0]
    assert sweep.values == (5.0, 10.0, 20.0)


def test_lists_of_tables_tell_families_apart():
    chains = [({"name": "clip", "by": [bound]}, {"name": "adam"}) for bound in (1.0, 2.0)]
    tables = [{"chain": chain, "rate": rate} for chain in chains for rate in (0.1, 0.2, 0.3)]
    sweep = find_sweep(specs(*tables))
    assert sweep.parameter == "rate"
    assert [list(members) for members in sweep.families.values()] == [[0.1, 0.2, 0.3]] * 2


@pytest.mark.parametrize(
    "tables",
    [(), ({"probes": 1}, {"probes": 2}), ({"flag": True}, {"flag": False}), ({"use_": "a"}, {"use_": "b"})],
)
def test_two_values_and_values_that_are_no_numbers_are_no_sweep(tables):
    assert find_sweep(specs(*tables)) is None


def drawn(make, use, mean, variance, **outcome):
    """Five repetitions of one method, a percent apart."""
    return [
        make.result(
            "estimator",
            "p",
            f"{use} {mean}",
            repetition,
            make.draws(variance * (1 + 0.01 * repetition)),
            params=law(use, mean),
            use="chebyshev",
            **outcome,
        )
        for repetition in range(5)
    ]


def swept(make, run, factor):
    results = [
        result
        for mean in (5, 10, 20)
        for use, times in (("optimal", 1.0), ("poisson", factor))
        for result in drawn(make, use, mean, times / mean)
    ]
    return summarize(run, results).comparisons[0]


def test_the_verdict_names_the_family_that_is_lowest_everywhere(make, run):
    said = verdict(swept(make, run, 3.0))
    assert said.startswith("At every mean from 5 to 20, chebyshev (optimal) has 3.0 times less variance")


def test_methods_are_compared_with_the_reference_at_the_same_value(make, run):
    comparison = swept(make, run, 3.0)
    ratios = {row.cell.method: row.ratio for row in comparison.rows if row.quantity == "variance"}
    assert ratios["optimal 20"] is None
    for mean in (5, 10, 20):
        assert ratios[f"poisson {mean}"].estimate == pytest.approx(3.0)
    assert {cell.method for cell, _ in comparison.decisions} == {"poisson 5", "poisson 10", "poisson 20"}


def test_the_table_has_the_swept_number_as_a_column_and_rows_of_one_value_together(make, run):
    comparison = swept(make, run, 3.0)
    table = headline_table(comparison)
    assert table.header[:2] == ("method", "mean")
    assert "ratios to chebyshev (optimal) at the same mean" in caption(comparison)
    assert [row[1] for row in table.rows] == ["5", "5", "10", "10", "20", "20"]
    assert table.rows[0][0] == "chebyshev (optimal)"


def test_no_family_is_named_when_one_value_shows_no_difference(make, run):
    results = [
        result
        for mean, times in ((5, 3.0), (10, 3.0), (20, 1.0))
        for use, factor in (("optimal", 1.0), ("poisson", times))
        for result in drawn(make, use, mean, factor / mean)
    ]
    said = verdict(summarize(run, results).comparisons[0])
    assert "No method is shown to be ahead of the others at every mean from 5 to 20" in said


def test_labels_drop_what_all_methods_share_and_families_the_number():
    laws = {
        Cell("p", "estimator", f"chebyshev ({use}, mean={mean})", "numpy"): Spec("chebyshev", law(use, mean))
        for use in ("optimal", "poisson")
        for mean in (5, 10)
    }
    assert list(find_sweep(laws).families) == ["optimal", "poisson"]
    beside = laws | {Cell("p", "estimator", "exact", "numpy"): Spec("exact", {})}
    assert list(find_sweep(beside).families) == ["chebyshev (optimal)", "chebyshev (poisson)"]


def test_optimizers_of_several_families_are_compared_at_the_same_value(make, run):
    results = [
        make.result(
            "optimizer", "p", f"{use} (size={size})", r,
            make.curve("gap", [9, 5, 2, 1], cost=cost * size * (1 + 0.01 * r)),
            params={"size": size}, use=use, target={"gap": 2.0},
        )
        for size in (1, 4, 16)
        for use, cost in (("sgd", 6.0), ("svrg", 2.0))
        for r in range(10)
    ]  # fmt: skip
    comparison = summarize(run, results).comparisons[0]
    said = verdict(comparison)
    assert said.startswith("At every size from 1 to 16, svrg needs 3.0 times fewer gradients")
    (figure,) = sweep_figures(comparison, styles_of(comparison.cells))
    assert [line["name"] for line in figure.views[0].data] == ["sgd", "svrg"]


def test_a_figure_has_a_line_a_family_and_a_view_for_each_quantity_and_fact(make, run):
    results = []
    for mean in (5, 10, 20):
        results += drawn(make, "optimal", mean, 1 / mean, facts={"weighted_variance": 2.0**-mean})
    comparison = summarize(run, results).comparisons[0]
    (figure,) = sweep_figures(comparison, styles_of(comparison.cells))
    views = {view.label: view for view in figure.views}
    assert {"variance", "mse x seconds", "weighted variance"} <= views.keys()
    assert not [label for label in views if "cpu" in label or label == "variance x seconds"]
    (line,) = views["weighted variance"].data
    assert line["x"] == [5, 10, 20]
    assert line["y"] == pytest.approx([2.0**-5, 2.0**-10, 2.0**-20], rel=1e-5)


def test_a_family_that_leads_in_the_mean_alone_does_not_lead(make, run):
    # of the second family 55 % of the runs vary less than those of the first, the others three times as much
    def verdict_of(odd):
        results = [
            replace(
                each, trial=replace(each.trial, method=Spec("chebyshev", law(use, mean), f"{use} {mean}"))
            )
            for mean in (5, 10, 20)
            for use in ("optimal", "poisson")
            for r in range(40)
            for factor in [1.0 if use == "optimal" else 3.0 if r < 18 else odd]
            for each in [
                make.result(
                    "estimator",
                    "p",
                    f"{use} {mean}",
                    r,
                    make.draws(factor * (1 + r / 1000) / mean, noise=0.02),
                )
            ]
        ]
        return verdict(summarize(run, results).comparisons[0])

    assert (
        "At every mean from 5 to 20, chebyshev (optimal) has 2.7 times less variance than chebyshev "
        "(poisson) (by the intervals at least 2.5)" in verdict_of(2.5)
    )
    assert "No method is shown to be ahead of the others at every mean" in verdict_of(0.9)
