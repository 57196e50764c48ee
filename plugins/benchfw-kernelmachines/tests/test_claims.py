"""The claims of Li & Póczos 2016 in the suites: where they are from, and what runs decide about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import benchfw
import benchfw_kernelmachines
from benchfw.data import local_datasets
from benchfw.suite import read_suite

SUITES = Path(benchfw_kernelmachines.__file__).parent / "suites" / "kernelmachines"
CLAIMS = {path.stem: read_suite(path).claims for path in sorted(SUITES.glob("*.toml"))}
PLACES = {
    "Theorem 1 and §2.2", "§3", "§3.1", "Theorem 3", "Theorem 4", "§4.1.2", "§4.2.1", "§5.1", "§6",
    "Figure 1", "Figure 2", "Table 3", "Table 5", "Table 6",
}  # fmt: skip


def verdicts_of(suite, tmp_path, **settings):
    """Return the verdict of a quick run on each claim."""
    result = benchfw.run(
        f"kernelmachines/{suite}", store=tmp_path / "s.sqlite", quick=True, replay=False, jobs=0, **settings
    )
    return dict(zip(result.claims["says"], result.claims["standing"], strict=True))


def test_every_claim_has_its_place_in_the_paper():
    sources = [each.source for claims in CLAIMS.values() for each in claims]
    assert all(source.startswith(("Li 2016, ", "benchfw, ")) for source in sources)
    assert {source.split(", ")[1] for source in sources if source.startswith("Li")} == PLACES


@pytest.mark.thorough
def test_a_quick_run_refutes_the_check_as_printed(tmp_path):
    found = verdicts_of("rates", tmp_path, only="*/[dc]*", repetitions=5)
    refuted = [says for says, verdict in found.items() if verdict == "refuted"]
    assert len(refuted) == 1
    assert "(9) as printed" in refuted[0]


@pytest.mark.skipif(
    not {"uci-kin40k", "adult"} <= set(local_datasets()), reason="needs uci-kin40k and adult in BENCHFW_DATA"
)
@pytest.mark.thorough
def test_a_quick_run_on_real_data_shows_no_bias_and_that_better_frequencies_vary_less(tmp_path):
    assert set(verdicts_of("unbiased", tmp_path).values()) == {"holds"}
