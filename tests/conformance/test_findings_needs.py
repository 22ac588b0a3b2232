"""The tests that the list of findings names exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .findings_needs import FINDINGS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("finding", "tests"), FINDINGS.items(), ids=FINDINGS)
def test_each_finding_has_tests(finding: str, tests: list[str]) -> None:
    """At least one, each a function of the file that it is said to be in."""
    assert tests, finding
    for name in tests:
        file, _, function = name.partition("::")
        assert re.search(rf"^ *(async )?def {function}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE), name
