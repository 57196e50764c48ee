"""One stochastic gradient of matrix completion against its bare matrix products, and cost against parameters.

`python suites/tracked/spectral_gradient.py` measures 50 probes at degree 15 on MovieLens 1M (one thread, CPU
seconds), then A = Σ θ_i u_i u_i' with 1 to 256 parameters: ours is one pass whatever their number, while the
document's recursion (6) runs once for each. That table goes to reports/gradient_cost.csv and, as a figure, to
reports/gradient_cost.html. MovieLens 1M is fetched where it is not here; without a network
`--dataset "movielens-like(users=6040, items=3706, ratings=1000209)"` is as large.
"""

from __future__ import annotations

import argparse
import csv
from functools import partial
from pathlib import Path

import numpy as np
from _timing import medians, refusals, with_one_thread

from benchfw.backends import get_backend
from benchfw_spectral import Chebyshev, Deterministic, MatrixCompletion, SpectralQuadratic

PROBES, DEGREE = 50, 15


def gradient_of(estimator: Chebyshev, problem: object, theta: np.ndarray) -> np.ndarray:
    """Return one draw of the gradient."""
    return estimator.draw(problem, get_backend("numpy").rng(4))(theta)


def matrix_completion(dataset: str, rounds: int) -> None:
    """Print the time of a gradient and of the matrix products inside it."""
    backend = get_backend("numpy")
    with refusals("--dataset takes another one"):
        problem = MatrixCompletion(backend, backend.rng(1), dataset=dataset)
    theta = problem.start()
    estimator = Chebyshev(PROBES, Deterministic(DEGREE))
    narrow = np.asfortranarray(backend.rng(2).rademacher((theta.shape[0], PROBES)))
    wide = np.asfortranarray(backend.rng(3).rademacher((theta.shape[0], DEGREE * PROBES)))

    def products() -> None:
        for _ in range(DEGREE - 1):  # w_1 … w_14
            theta @ (theta.T @ narrow)
        wide @ (wide.T @ theta)  # the pairs, at once

    calls = {"ours": partial(gradient_of, estimator, problem, theta), "bare": products}
    ours, bare = medians(calls, rounds).values()
    print(f"{dataset}, {theta.shape[0]:,} x {theta.shape[1]:,}, {PROBES} probes, degree {DEGREE}")
    print(f"  gradient {ours:.2f} s, its bare products {bare:.2f} s, ratio {ours / bare:.2f}")


def recursion(problem: SpectralQuadratic, theta: np.ndarray) -> np.ndarray:
    """Return the gradient by the document's recursion (6): one recurrence a parameter."""
    matrix = problem.at(theta)
    low, high = matrix.interval
    weights = problem.function.coefficients(matrix.interval, DEGREE)
    probes = problem.backend.rng(4).rademacher((problem.size, PROBES))
    scaled = lambda block: (  # noqa: E731
        (2 * matrix.operator.matmat(block) - (high + low) * block) / (high - low)
    )
    images = [probes, scaled(probes)]  # w_0 … w_14, the same for every parameter
    for _ in weights[2:-1]:
        images.append(2 * scaled(images[-1]) - images[-2])
    found = []
    for direction in matrix.directions.T:
        slope = lambda block, u=direction: np.outer(u, u @ block)  # noqa: E731
        before, change = np.zeros_like(probes), 2 / (high - low) * slope(probes)
        total = weights[1] * np.sum(probes * change)
        for weight, image in zip(weights[2:], images[1:], strict=True):
            step = 4 / (high - low) * slope(image) + 2 * scaled(change) - before
            before, change = change, step
            total += weight * np.sum(probes * change)
        found.append(total / PROBES)
    return np.array(found)


def cost_of_parameters(rounds: int, file: Path) -> None:
    """Print and write the time of a gradient against the number of parameters."""
    backend = get_backend("numpy")
    rows = []
    print("parameters   ours, ms   a parameter, ms   recursion (6), ms   a parameter, ms")
    for parameters in (1, 4, 16, 64, 256):
        problem = SpectralQuadratic(backend, backend.rng(1), size=600, parameters=parameters)
        theta = problem.start() + 0.5
        estimator = Chebyshev(PROBES, Deterministic(DEGREE))
        calls = {
            "ours": partial(gradient_of, estimator, problem, theta),
            "theirs": partial(recursion, problem, theta),
        }
        ours, theirs = (1e3 * time for time in medians(calls, 1 if parameters > 16 else rounds).values())
        rows.append((parameters, ours, ours / parameters, theirs, theirs / parameters))
        print("{:10d} {:10.2f} {:17.3f} {:19.1f} {:17.3f}".format(*rows[-1]))
    file.parent.mkdir(exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("parameters", "ours_ms", "ours_ms_each", "recursion_ms", "recursion_ms_each"))
        writer.writerows(rows)
    draw(rows, file.with_suffix(".html"))


def draw(rows: list[tuple[float, ...]], file: Path) -> None:
    """Write the figure: time of a gradient against the number of parameters, both logarithmic."""
    from plotly import graph_objects

    parameters = [row[0] for row in rows]
    figure = graph_objects.Figure(
        [
            graph_objects.Scatter(x=parameters, y=[row[column] for row in rows], name=name)
            for name, column in {"one pass (ours)": 1, "recursion (6)": 3}.items()
        ],
        {"title": "CPU time of one stochastic gradient, 600 rows, 50 probes, degree 15"},
    )
    figure.update_xaxes(type="log", title="parameters")
    figure.update_yaxes(type="log", title="milliseconds")
    figure.write_html(file, include_plotlyjs="directory")


def main() -> None:
    """Measure both."""
    with_one_thread()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="movielens-1m")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    matrix_completion(arguments.dataset, arguments.rounds)
    cost_of_parameters(arguments.rounds, Path("reports/gradient_cost.csv"))


if __name__ == "__main__":
    main()
