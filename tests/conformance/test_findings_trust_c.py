"""The tests that these lists of findings name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import findings_comparisons, findings_trust_c

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = {**findings_trust_c.FINDINGS, **findings_comparisons.FINDINGS}


@pytest.mark.parametrize(("finding", "tests"), FINDINGS.items(), ids=FINDINGS)
def test_each_finding_has_tests(finding: str, tests: list[str]) -> None:
    """At least one, each a function of the file that it is said to be in."""
    assert tests, finding
    for name in tests:
        file, _, function = name.partition("::")
        assert re.search(rf"^ *(async )?def {function}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE), name
