"""Every test that docs/findings.md calls as a witness exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_tests_that_findings_name_are_there():
    page = (ROOT / "docs" / "findings.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", page))
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("plugins/*/tests/**/test_*.py")]
    defined = {
        (path.name, name)
        for path in files
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named
    assert named <= defined, sorted(named - defined)
