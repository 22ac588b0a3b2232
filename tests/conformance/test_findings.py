"""The list of findings names tests that are there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .findings import FINDINGS

ROOT = Path(__file__).resolve().parents[2]


def test_no_finding_is_left_out() -> None:
    """N-A1 to N-A14 and N-B1 to N-B13, each with a test."""
    ids = [*(f"N-A{number}" for number in range(1, 15)), *(f"N-B{number}" for number in range(1, 14))]
    assert list(FINDINGS) == ids
    assert all(FINDINGS.values())


@pytest.mark.parametrize("node", sorted({node for nodes in FINDINGS.values() for node in nodes}))
def test_the_test_of_a_finding_is_there(node: str) -> None:
    """A test that is renamed or removed takes its place in the list along."""
    file, name = node.split("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
