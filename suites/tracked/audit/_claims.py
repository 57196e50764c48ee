"""Claims: how often a false one holds, a true one is refuted, and how often a true one is decided."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import itemgetter
from typing import Any

import numpy as np
from _draws import LAWS as DRAWN
from _draws import sample
from _laws import FOR_CLAIMS as LAWS
from _laws import HEAVY, SMOOTH, Rng
from _tables import Line, Table, split_tasks

from benchfw.analysis.claims import Decided, Standing
from benchfw.analysis.convergence import Curve
from benchfw.analysis.draws import Moments
from benchfw.claims.read import read_claim
from benchfw.provenance import Environment, Run
from benchfw.records import Cell, Role
from benchfw.summary.claims.parts import Measurements
from benchfw.summary.claims.reader import ClaimReader
from benchfw.summary.draws import DrawSample
from benchfw.summary.quantities import Arrival, Sample

CLAIMS = (1, 5, 20)
RUNS = (5, 10, 20)
SKEWED = "skewed logarithms"
CONTINUOUS = (*SMOOTH, "bimodal")
POSITIVE = ("normal", "log-normal", "wide log-normal", "exponential", "Pareto 3", "rare events")
PAIRED = (*CONTINUOUS, "Pareto 3", "discrete", "rare events")
LITTLE = 1e-4  # of a standard deviation of the laws
QUANTITY, CLAIMED = "loss at the end", 0.5
CELLS = [Cell("p", "optimizer", name, "numpy") for name in ("mine", "theirs")]


def decide(tables: Sequence[Mapping[str, Any]], found: Sequence[Measurements]) -> list[Decided]:
    """Return what a report decides about claims, each with what was measured for it alone."""
    claims = [read_claim({"says": str(number), **table}, "") for number, table in enumerate(tables)]
    registered = tuple({"hash": each.digest, "registered": "", "table": each.table} for each in claims)
    environment = Environment(claims=registered, backends={"numpy": {}})
    reader = ClaimReader(Run(0, "", "", None, "", environment=environment))  # type: ignore[arg-type]
    for number, each in enumerate(found):
        reader.read(_moved(each, str(number)))
    return [each.decided for each in reader.decide()]


def _moved(found: Measurements, problem: str) -> Measurements:
    """Return measurements as those of another problem."""
    samples = {cell._replace(problem=problem): sample for cell, sample in found.samples.items()}
    trials = {cell._replace(problem=problem): each for cell, each in found.trials.items()}
    return Measurements(found.kind, samples, trials, found.metrics)


def _measured(*logs: np.ndarray) -> Measurements:
    """Return what methods ended at, run by run."""
    samples = {
        cell: Sample("optimizer", {"loss": dict(enumerate(np.exp(each).tolist()))})
        for cell, each in zip(CELLS, logs, strict=False)
    }
    return Measurements("optimizer", samples, {cell: [] for cell in samples}, ["loss"])


@cache
def _mean(law: str) -> float:
    return float(np.mean(np.exp(LAWS[law](np.random.default_rng(0), (1_000_001,)))))


@cache
def _median(law: str) -> float:
    return float(np.median(LAWS[law](np.random.default_rng(0), (1_000_001,))))


# each case returns a claim whose truth lies at the end of what is claimed, moved by so much to its inside


def _ratio(rng: Rng, law: str, runs: int, side: str, inside: float = 0.0) -> tuple[dict[str, Any], Any]:
    """Two methods with the same law: the typical log ratio is what is claimed."""
    first, second = LAWS[law](rng, (2, runs))
    towards = -inside if side == "below" else inside
    table = {"method": "mine", "than": "theirs", "quantity": QUANTITY, "ratio": {side: CLAIMED}}
    return table, _measured(first + math.log(CLAIMED) + towards, second)


def _steady(rng: Rng, law: str, runs: int, side: str, inside: float = 0.0) -> tuple[dict[str, Any], Any]:
    """The other method has nearly the same result in all runs: the ratio is as skewed as the law."""
    towards = -inside if side == "below" else inside
    logs = LAWS[law](rng, (runs,)) - _median(law) + math.log(CLAIMED) + towards
    table = {"method": "mine", "than": "theirs", "quantity": QUANTITY, "ratio": {side: CLAIMED}}
    return table, _measured(logs, LITTLE * rng.standard_normal(runs))


def _value(rng: Rng, law: str, runs: int, side: str, inside: float = 0.0) -> tuple[dict[str, Any], Any]:
    """The median of a method is what is claimed."""
    table, found = _steady(rng, law, runs, side, inside)
    return {"method": "mine", "quantity": QUANTITY, "value": table["ratio"]}, found


def _within(rng: Rng, law: str, runs: int, side: str, inside: float = 0.0) -> tuple[dict[str, Any], Any]:
    """The ratio is at an end of a range."""
    table, found = _ratio(rng, law, runs, side, inside)
    ends = [CLAIMED / 1.5, CLAIMED] if side == "below" else [CLAIMED, 1.5 * CLAIMED]
    return {**table, "ratio": {"within": ends}}, found


CASES: dict[str, Callable[..., tuple[dict[str, Any], Any]]] = {
    "ratio": _ratio,
    "ratio to a method that varies little": _steady,
    "value": _value,
    "ratio within a range": _within,
}


def judge_edge(
    case: str, law: str, runs: int, claims: int, decided: int, start: int, end: int
) -> list[tuple[bool, bool]]:
    """Return of each report whether some claim at its edge holds, and whether some is refuted.

    Claims are to either side in turn; of 20, so many are `decided`: true, and far from their edges.
    """
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([41, runs, claims, number])
        made = [
            CASES[case](rng, law, runs, "above" if place % 2 else "below", 5.0 if place < decided else 0.0)
            for place in range(claims)
        ]
        said = decide([{**table, "problem": str(n)} for n, (table, _) in enumerate(made)],
                      [each for _, each in made])[decided:]  # fmt: skip
        standings = {each.standing for each in said}
        found.append((Standing.HOLDS in standings, Standing.REFUTED in standings))
    return found


def judge_inside(law: str, runs: int, errors: float, start: int, end: int) -> list[bool]:
    """Return whether a single true claim holds whose truth lies so many standard errors inside."""
    spread = float(np.std(LAWS[law](np.random.default_rng(0), (1_000_000,)))) * math.sqrt(2 / runs)
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([42, runs, number])
        table, measured = _ratio(rng, law, runs, "below", errors * spread)
        found.append(decide([table], [measured])[0].standing is Standing.HOLDS)
    return found


def judge_plan(law: str, errors: float, start: int, end: int) -> list[float]:
    """Return, of claims that ten runs leave undecided, whether as many new runs as are planned decide it.

    NaN where ten runs decide it, or plan nothing.
    """
    runs = 10
    spread = float(np.std(LAWS[law](np.random.default_rng(0), (1_000_000,)))) * math.sqrt(2 / runs)
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([43, number])
        (said,) = decide(*([each] for each in _ratio(rng, law, runs, "below", errors * spread)))
        if said.standing is not Standing.UNDECIDED or said.needed is None or said.needed > 10_000:
            found.append(math.nan)
            continue
        (again,) = decide(*([each] for each in _ratio(rng, law, said.needed, "below", errors * spread)))
        found.append(again.standing is Standing.HOLDS)
    return found


def judge_again(law: str, start: int, end: int) -> list[bool]:
    """Return whether a claim at its edge holds with ten runs or, if undecided, with as many as are named."""
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([45, number])
        drawn = LAWS[law](rng, (2, 10_000))
        table = {"method": "mine", "than": "theirs", "quantity": QUANTITY, "ratio": {"below": CLAIMED}}
        logs = drawn + np.log([[CLAIMED], [1.0]])
        (said,) = decide([table], [_measured(*logs[:, :10])])
        if said.standing is Standing.UNDECIDED and said.needed is not None:
            (said,) = decide([table], [_measured(*logs[:, : min(said.needed, 10_000)])])
        found.append(said.standing is Standing.HOLDS)
    return found


# claims that are not about a number of each run


@dataclass(frozen=True)
class OneRun:
    """A run of which a curve and its bound are known."""

    repetition: int
    known: Curve
    limit: Curve | None = None
    finished: bool = True
    diverged: bool = False
    skipped: bool = False
    untrue: bool = False
    metrics: tuple[str, ...] = ("loss",)

    @property
    def bounded(self) -> tuple[str, ...]:
        return ("loss",) if self.limit is not None else ()

    def curve(self, _metric: str, role: Role = "metric") -> Curve | None:
        return self.known if role == "metric" else self.limit


def _arrivals(rng: Rng, runs: int) -> tuple[dict[str, Any], Any]:
    """Half of all runs reach the target."""
    reached = rng.random(runs) < 0.5
    arrivals = {n: Arrival(1.0, 1.0, 1.0, 1.0, bool(each)) for n, each in enumerate(reached)}
    sample = Sample("optimizer", arrivals=arrivals)
    return {"method": "mine", "reaches": True}, Measurements(
        "optimizer", {CELLS[0]: sample}, {CELLS[0]: []}, []
    )


def _mean_bound(rng: Rng, runs: int) -> tuple[dict[str, Any], Any]:
    """The mean of the runs is at its bound at the last of 40 looks, and half of it before; a random walk."""
    steps = rng.standard_exponential((runs, 40))
    walks = np.cumsum(steps, axis=1) / np.arange(1, 41)
    walks *= np.where(np.arange(40) == 39, 1.0, 0.5)
    looks = np.arange(1.0, 41.0)
    limit = Curve(looks, looks, looks, np.ones(40))
    trials = [OneRun(n, Curve(looks, looks, looks, each), limit) for n, each in enumerate(walks)]
    found = Measurements("optimizer", {CELLS[0]: Sample("optimizer")}, {CELLS[0]: trials}, ["loss"])  # type: ignore[dict-item]
    return {"method": "mine", "bound": "mean"}, found


def _mean_of(rng: Rng, runs: int, law: str) -> tuple[dict[str, Any], Any]:
    """The mean of runs of this law is at its bound at the last look, and half of it at the look before."""
    last = np.exp(LAWS[law](rng, (runs,))) / _mean(law)
    looks = np.arange(1.0, 3.0)
    limit = Curve(looks, looks, looks, np.ones(2))
    trials = [
        OneRun(n, Curve(looks, looks, looks, each * np.array([0.5, 1])), limit) for n, each in enumerate(last)
    ]
    found = Measurements("optimizer", {CELLS[0]: Sample("optimizer")}, {CELLS[0]: trials}, ["loss"])  # type: ignore[dict-item]
    return {"method": "mine", "bound": "mean"}, found


def _rate(rng: Rng, runs: int) -> tuple[dict[str, Any], Any]:
    """The exponent of a run is -1 and some noise, and below -1 is claimed."""
    looks = np.unique(np.ceil(1.1 ** np.arange(60)))
    trials = []
    for number in range(runs):
        values = np.exp((-1 + 0.05 * rng.standard_normal()) * np.log(looks))
        values *= np.exp(0.02 * rng.standard_normal(len(looks)))
        trials.append(OneRun(number, Curve(looks, looks, looks, values)))
    found = Measurements("optimizer", {CELLS[0]: Sample("optimizer")}, {CELLS[0]: trials}, ["loss"])  # type: ignore[dict-item]
    return {"method": "mine", "rate": {"below": -1.0}}, found


def _bias(rng: Rng, runs: int, bias: float, law: str = "normal") -> tuple[dict[str, Any], Any]:
    """An estimator of a number with a bias of so many standard deviations of its 1,000 draws."""
    drawn = sample(rng, DRAWN[law], 1, runs, 1000)
    squares = zip(drawn.variance[0], drawn.std_error[0], drawn.skewness[0], strict=True)
    moments = {number: Moments(*map(float, each), 1000) for number, each in enumerate(squares)}
    values = {
        "bias": dict(enumerate((drawn.bias[0] + bias * math.sqrt(DRAWN[law].variance)).tolist())),
        "variance": {number: each.variance for number, each in moments.items()},
    }
    cell = Cell("p", "estimator", "mine", "numpy")
    found = DrawSample("estimator", values, moments=moments)
    return {"method": "mine", "unbiased": True}, Measurements("estimator", {cell: found}, {cell: []}, [])


OTHERS: dict[str, tuple[Callable[[Rng, int], tuple[dict[str, Any], Any]], Standing]] = {
    "reaches, half of the runs do: holds": (_arrivals, Standing.HOLDS),
    "bound in the mean, at its edge: holds": (_mean_bound, Standing.HOLDS),
    "bound in the mean, at its edge: refuted": (_mean_bound, Standing.REFUTED),
    **{
        f"bound in the mean, at its edge, {law}: {word}": (partial(_mean_of, law=law), standing)
        for word, standing in (("holds", Standing.HOLDS), ("refuted", Standing.REFUTED))
        for law in POSITIVE
    },
    "rate, at its edge: holds": (_rate, Standing.HOLDS),
    "rate, at its edge: refuted": (_rate, Standing.REFUTED),
    "unbiased, biased by the margin: holds": (partial(_bias, bias=0.1), Standing.HOLDS),
    "unbiased, no bias: refuted": (partial(_bias, bias=0.0), Standing.REFUTED),
    "unbiased, no bias, exponential draws: refuted": (partial(_bias, bias=0.0, law="exponential"),
                                                      Standing.REFUTED),
}  # fmt: skip


def judge_other(name: str, runs: int, start: int, end: int) -> list[bool]:
    """Return of each report with one claim whether it has a standing that is false."""
    make, false = OTHERS[name]
    found = []
    for number in range(start, end):
        rng = np.random.default_rng([44, runs, number])
        table, measured = make(rng, runs)
        found.append(decide([table], [measured])[0].standing is false)
    return found


# tables


def _many(name: str, experiments: int) -> int:
    """Return of how many reports a share is the mean: of claims that are decided quickly, of more."""
    return experiments * 10 if name.startswith("unbiased") else experiments


def _share(found: list[list[Any]], pick: Callable[[Any], Any] = lambda each: each) -> float:
    flat = [pick(each) for part in found for each in part]
    known = [each for each in flat if not (isinstance(each, float) and math.isnan(each))]
    return float(np.mean(known)) if known else math.nan


def claim_tables(experiments: int) -> Iterator[Table]:
    """Yield the tables of claims."""
    heads = tuple(f"{claims} claim{'s' * (claims > 1)}" for claims in CLAIMS)

    def edge(case: str, law: str, runs: int, which: int, decided: int = 0) -> Line:
        most = 0.05 if law in CONTINUOUS or case == "ratio" else 1.0
        columns = tuple(
            split_tasks(experiments, judge_edge, case, law, runs, claims, decided * claims // 20)
            for claims in CLAIMS
        )
        far = f", {decided} of 20 far from it" if decided else ""
        return Line(
            f"{case}, {law}, {runs} runs{far}", columns, partial(_share, pick=itemgetter(which)), 0.0, most
        )

    for which, word in enumerate(("holds", "is refuted")):
        lines = [edge("ratio", law, runs, which) for law in PAIRED for runs in RUNS]
        lines += [edge("ratio", "log-normal", 10, which, decided) for decided in (5, 10, 15)]
        lines += [edge("value", SKEWED, runs, which) for runs in RUNS]
        lines += [
            edge(case, law, runs, which)
            for case in CASES
            if case != "ratio"
            for law in CONTINUOUS
            for runs in RUNS
        ]
        title = f"Claims whose truth is just at the end of what they claim: reports in which one {word}"
        yield Table(("claim, law of a run, runs", *heads), tuple(lines), title, experiments)
    lines = [
        Line(
            name,
            tuple(split_tasks(_many(name, experiments), judge_other, name, runs) for runs in RUNS),
            _share,
            0.0,
            1.0 if any(law in name for law in HEAVY) else 0.05,
        )
        for name in OTHERS
    ]
    title = "Other claims, one in a report: how often what is said is false"
    yield Table(("claim", *(f"{runs} runs" for runs in RUNS)), tuple(lines), title, experiments)
    lines = [
        Line(
            f"{runs} runs, {errors:g} standard errors inside",
            tuple(split_tasks(experiments, judge_inside, law, runs, errors) for law in SMOOTH),
            _share,
            0.8 if (runs, errors) == (10, 3) else 0.0,
        )
        for runs in RUNS
        for errors in (2.0, 3.0, 4.0)
    ]
    title = "One true claim of a ratio: how often it is decided, by the law of a run"
    yield Table(("runs, truth", *SMOOTH), tuple(lines), title, experiments)
    lines = [
        Line(
            f"{law}, {errors:g} standard errors of ten runs inside",
            (split_tasks(experiments, judge_plan, law, errors),),
            _share,
        )
        for law in ("normal", "log-normal")
        for errors in (0.5, 1.0, 2.0)
    ]
    title = "Claims that ten runs leave undecided: how often as many new runs as are named decide them"
    yield Table(("law of a run, truth", "decided"), tuple(lines), title, experiments)
    lines = [
        Line(f"{law}, ten runs first", (split_tasks(experiments, judge_again, law),), _share)
        for law in ("normal", "log-normal")
    ]
    title = "A claim at its edge, decided anew with as many runs as are named: how often it holds"
    yield Table(("law of a run", "holds"), tuple(lines), title, experiments)
