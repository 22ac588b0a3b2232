"""The list of findings names tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from . import findings_engines, findings_trust_a, findings_trust_b, findings_trust_c
from .findings import FINDINGS
from .findings_third_round import FINDINGS as THIRD_ROUND

ROOT = Path(__file__).resolve().parents[2]


def test_no_finding_is_left_out() -> None:
    """N-A1 to N-A14 and N-B1 to N-B13, each with a test."""
    ids = [*(f"N-A{number}" for number in range(1, 15)), *(f"N-B{number}" for number in range(1, 14))]
    assert list(FINDINGS) == ids
    assert all(FINDINGS.values())


@pytest.mark.parametrize(
    "node", sorted({node for of in (FINDINGS, THIRD_ROUND) for nodes in of.values() for node in nodes})
)
def test_the_test_of_a_finding_is_there(node: str) -> None:
    """A test that is renamed or removed takes its place in the list along."""
    file, name = node.split("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}


def numbered(prefix: str, most: int) -> set[str]:
    """Ids from 1 on."""
    return {f"{prefix}{number}" for number in range(1, most + 1)}


TRUST = {"T-B1", "T-B2", "P-B2", *numbered("T-S", 15), *numbered("T-M", 10), *numbered("E-C", 6)}


def test_no_list_leaves_a_finding_out() -> None:
    """Those on engines, judges, dialects, trust and plugins have tests, or an argument, in one of the lists."""
    engines = {*numbered("E-A", 12), *numbered("E-B", 3), *numbered("E-D", 5), *numbered("D-", 6)}
    plugins = numbered("P-S", 10) - numbered("P-S", 4)
    lists = (findings_engines, findings_trust_a, findings_trust_b, findings_trust_c)
    kept = {finding for one in lists for finding in one.FINDINGS} | set(findings_engines.ARGUED)
    assert sorted((TRUST | engines | plugins) - kept) == []


def test_the_page_on_trust_names_its_findings() -> None:
    """Whoever reads what is stopped finds each attack that once got through."""
    page = (ROOT / "docs/trust.md").read_text("utf-8")
    assert sorted(TRUST - set(re.findall(r"\b[A-Z]-[A-Z]+\d+\b", page))) == []
