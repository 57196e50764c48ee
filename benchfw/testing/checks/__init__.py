"""All checks, in the order in which they run."""

from __future__ import annotations

from benchfw.testing.check import Check
from benchfw.testing.checks import (
    backends,
    distributions,
    estimators,
    general,
    kernels,
    optimizers,
    portability,
    problems,
    randomness,
    solvers,
)

NEEDED = (general.defaults, general.meets_a_problem)
"""Where one of them fails, those after it would only say the same."""

CHECKS: tuple[Check, ...] = (
    general.defaults,
    general.documented,
    general.picklable,
    general.meets_a_problem,
    randomness.same_seed,
    randomness.different_seed,
    randomness.global_random_state,
    portability.dtype_kept,
    general.parameters_kept,
    general.inputs_kept,
    general.calls_counted,
    randomness.remembers_nothing,
    randomness.prepared_alike,
    problems.shapes_kept,
    problems.gradient,
    problems.batch_gradient,
    problems.prox_optimal,
    problems.projection,
    problems.metrics_finite,
    problems.oracles_counted,
    problems.arguments_kept,
    distributions.sums_to_one,
    distributions.survival_matches_samples,
    distributions.mean_as_declared,
    distributions.sample_shapes,
    estimators.deterministic_draw,
    estimators.unbiased,
    estimators.bias_order,
    estimators.variance_falls,
    kernels.bodies_agree,
    kernels.portable_is_strict,
    kernels.kernel_inputs_kept,
    kernels.counts_grow,
    kernels.kernel_dtype_kept,
    solvers.effort_honoured,
    solvers.solves_from_scratch,
    optimizers.start_first,
    optimizers.stays_feasible,
    optimizers.improves,
    optimizers.bound_holds,
    optimizers.fixed_point,
    optimizers.search_spaces,
    portability.every_backend,
    portability.no_mix_up,
    backends.arrays_come_back,
    backends.arrays_are_owned,
    backends.same_bits,
    backends.same_numbers,
    backends.described,
)


def checks_for(role: str) -> list[Check]:
    """Return the checks of one role, in the order in which they run."""
    return [each for each in CHECKS if role in each.roles]
