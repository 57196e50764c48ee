"""Every test that the findings, the misprints and the claims of suites call as a witness exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_tests_that_findings_name_are_there():
    pages = [
        ROOT / "docs" / "findings.md",
        ROOT / "docs" / "misprints.md",
        *ROOT.glob("plugins/*/*/suites/**/*.toml"),
    ]
    text = "\n".join(path.read_text("utf-8") for path in pages)
    named = set(re.findall(r"\b(test_\w+\.py)::(test_\w+)", text))
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("plugins/*/tests/**/test_*.py")]
    defined = {
        (path.name, name)
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named
    assert named <= defined, sorted(named - defined)
