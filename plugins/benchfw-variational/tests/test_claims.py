"""The claims of Khan et al. 2016 in the suites: where they are from, and what runs decide about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchfw
import benchfw_variational
from benchfw.data import local_datasets
from benchfw.suite import read_suite

SUITES = Path(benchfw_variational.__file__).parent / "suites" / "variational"
CLAIMS = {path.stem: read_suite(path).claims for path in sorted(SUITES.glob("*.toml"))}
PLACES = {
    "§3.2", "§4", "§5.1", "§5.2", "§6", "§7.2", "Proposition 1", "Proposition 2", "Proposition 3", "Figure 1",
    "Figure 2", "Figure 3", "Appendix A.1", "Appendix C", "Appendix F", "Appendix G",
}  # fmt: skip


def verdicts_of(suite, tmp_path, **settings):
    """Return the verdict of a quick run on each claim."""
    result = benchfw.run(
        f"variational/{suite}", store=tmp_path / "s.sqlite", quick=True, replay=False, jobs=0, **settings
    )
    return dict(zip(result.claims["says"], result.claims["standing"], strict=True))


def test_every_claim_has_its_place_in_the_paper():
    sources = [each.source for claims in CLAIMS.values() for each in claims]
    assert all(source.startswith("Khan 2016, ") for source in sources)
    named = {source.split(", ")[1] for source in sources}
    assert named == PLACES


def test_proposition_1_holds_in_a_quick_run_and_what_did_not_run_is_not_tested(tmp_path):
    found = verdicts_of("rates", tmp_path, only="*/Proposition 1, KL", repetitions=6)
    first, *others = found.values()
    assert first == "holds"
    assert set(others) == {"not testable"}


@pytest.mark.thorough
def test_the_propositions_hold_in_a_quick_run(tmp_path):
    found = verdicts_of("rates", tmp_path)
    tested = {each.says for each in CLAIMS["rates"] if each.test == "bound"}
    assert len(tested) == 6
    assert {found[says] for says in tested} == {"holds"}


@pytest.mark.skipif(
    not {"ionosphere", "sonar"} <= set(local_datasets()), reason="needs ionosphere and sonar in BENCHFW_DATA"
)
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("suite", "repetitions", "verdicts"),
    [
        ("unbiased", 4, ["holds"]),
        ("ten_passes_ionosphere", 6, ["holds", "holds", "holds"]),
        ("ten_passes_sonar", 6, ["refuted", "refuted", "holds"]),
    ],
)
def test_quick_runs_on_real_data_decide(tmp_path, suite, repetitions, verdicts):
    assert list(verdicts_of(suite, tmp_path, repetitions=repetitions).values()) == verdicts
