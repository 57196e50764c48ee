"""Many curves end to end say what each of them says."""

import math

import numpy as np
import pytest

from benchfw.analysis.convergence import Curve, curve_within, time_to_all
from benchfw.analysis.stacks import Stack, first_hits, place_arrivals

SECONDS, COST = [None, 4.0, 0.5, None], [30.0, None, math.inf, 1e9]


@pytest.fixture
def curves():
    """Curves of several lengths, the second with CPU seconds, the third without a number at its start."""
    found, rng = [], np.random.default_rng(5)
    for number, points in enumerate((1, 7, 4, 12)):
        steps = np.cumsum(rng.integers(1, 4, points)).astype(float)
        values = np.exp(-rng.random(points).cumsum())
        values[0] = math.nan if number == 2 else values[0]
        found.append(Curve(steps, 0.5 * steps, 7 * steps, values, 0.4 * steps if number == 1 else None))
    return found


def stack(curves):
    blocks = [b"\0" * 32 + each.block for each in curves]
    starts = np.cumsum([0, *map(len, blocks)])
    places = [(int(start) + 32, *each.shape) for start, each in zip(starts, curves, strict=False)]
    return Stack.of_blocks(b"".join(blocks), places)


def test_a_stack_has_the_points_of_its_curves_and_cuts_each_at_its_budget(curves):
    cut = [curve_within(each, *most) for each, *most in zip(curves, SECONDS, COST, strict=True)]
    assert [each.count for each in cut] != [each.count for each in curves]
    for found, expected in ((stack(curves), curves), (stack(curves).within(SECONDS, COST), cut)):
        assert found.counts.tolist() == [each.count for each in expected]
        for row, name in enumerate(("iterations", "seconds", "cost", "values")):
            whole = np.concatenate([getattr(each, name) for each in expected])
            np.testing.assert_array_equal(found.points[row], whole)
        assert found.firsts[0].tolist() == [each.iterations[0] for each in expected]
        np.testing.assert_array_equal(found.lasts[3], [each.final for each in expected])
    used = np.isnan(stack(curves).points[4])
    assert used.tolist() == [True] + [False] * 7 + [True] * 16


def test_first_hits_are_those_of_each_curve_also_of_several_targets(curves):
    later = [Curve(*each._points[:3, 1:], 3 * each.values[1:] ** 2) for each in curves[1:]]
    for group, targets in (
        *(([curves], [target]) for target in (2.0, 0.4, 0.1, 1e-9)),
        *(([curves[1:], later], [0.6, target]) for target in (1.0, 0.1)),
    ):
        stacks = [stack(each) for each in group]
        arrived, at = first_hits(stacks, targets)
        hits = [time_to_all(each, targets) for each in zip(*group, strict=True)]
        assert arrived.tolist() == [math.isfinite(each.iterations) for each in hits]
        steps, seconds = stacks[0].points[:2]
        assert seconds[at[arrived]].tolist() == [each.seconds for each in hits if each.seconds < math.inf]
        places = place_arrivals(stacks, targets, at[arrived])
        low, high = places.brackets(steps)
        assert np.all((low <= places.values(steps)) & (places.values(steps) <= high))


def test_a_metric_with_a_sign_or_without_a_first_number_has_no_rounding_floor():
    steps = np.arange(3.0)
    values = ([4.0, 1.0, math.nan], [4.0, 1.0, -1.0], [math.inf, 1.0, 1.0], [0.0, 0.0, 0.0])
    found = stack([Curve(steps, steps, steps, np.array(each)) for each in values])
    assert found.floors().tolist() == [32 * 2.0**-52, 0, 0, 0]
    assert found.floors(np.array([-8.0, 1, 1, math.inf])).tolist() == [64 * 2.0**-52, 0, 0, 0]
