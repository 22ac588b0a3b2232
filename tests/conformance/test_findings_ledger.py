"""Every finding on the first hour and on plugins has a test that is there, or a decision record that names it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from . import (
    findings_engines,
    findings_first_hour,
    findings_newcomers,
    findings_plugins,
    findings_trust_a,
    findings_trust_c,
)
from .requirements import REQUIREMENTS

ROOT = Path(__file__).resolve().parents[2]
LEDGERS = (
    findings_newcomers,
    findings_plugins,
    findings_first_hour,
    findings_engines,
    findings_trust_a,
    findings_trust_c,
)
MOST = {
    "F-": 12,
    "F-H": 7,
    "F-R": 4,
    "F-A": 5,
    "F-K": 21,
    "F-D": 12,
    "F-W": 6,
    "F-P": 2,
    "F-O": 9,
    "F-L": 3,
    "P-B": 3,
    "P-S": 12,
    "P-M": 10,
    "P-C": 4,
    "P-D": 11,
    "P-N": 11,
    "P-E": 2,
}
"""How many findings there are of each sort."""
OWN = {**findings_newcomers.FINDINGS, **findings_plugins.FINDINGS}


def test_no_finding_is_left_out() -> None:
    """All that were numbered, in one list or another."""
    every = {f"{sort}{number}" for sort, most in MOST.items() for number in range(1, most + 1)} | {"P-S0"}
    known = {one for ledger in LEDGERS for one in ledger.FINDINGS}
    assert sorted(every - known) == []


@pytest.mark.parametrize(("finding", "places"), OWN.items(), ids=OWN)
def test_a_finding_has_a_test_or_a_reason(finding: str, places: Iterable[str]) -> None:
    """The test is in its file; a record that says why there is none names the finding."""
    assert places
    for place in places:
        file, _, test = place.partition("::")
        text = (ROOT / file).read_text("utf-8")
        if test:
            assert re.search(rf"^ *(async )?def {test.rpartition('::')[2]}\(", text, re.MULTILINE), place
        else:
            assert re.search(rf"\b{finding}\b", text), place


SAMPLED = {
    "in the letter only": [
        "ES-CONFIG-004",
        "ES-FLOW-003",
        "BF-CRED-003",
        "BF-RUN-008",
        "BF-ENV-001",
        "SE-RUN-003",
        "UA-TIER-005",
    ],
    "does not hold": ["BF-CRED-005", "BF-CRED-006", "SE-RUN-001", "SE-RUN-004", "UA-REPORT-015", "ES-GLOBAL-001"],
}
"""What a sample of sixty claims, and one look beside it, had found wanting."""


@pytest.mark.parametrize("verdict", SAMPLED)
def test_every_bad_claim_of_the_sample_is_a_finding_of_its_own(verdict: str) -> None:
    """P-C2: a claim that does not hold has a test of the promise; one that holds in the letter may be argued."""
    for requirement in SAMPLED[verdict]:
        assert REQUIREMENTS[requirement]
        places = findings_plugins.FINDINGS[f"P-{requirement}"]
        assert verdict == "in the letter only" or any("::" in place for place in places), requirement
