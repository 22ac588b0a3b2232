"""Every finding has tests that exist, or an argument that does."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from .findings_engines import ARGUED, FINDINGS

ROOT = Path(__file__).resolve().parents[2]


@cache
def functions_in(file: str) -> frozenset[str]:
    """Names of the test functions of a file, those of its classes as `Class::name`."""
    found = set()
    for node in ast.parse((ROOT / file).read_text("utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {f"{prefix}{one.name}" for one in inside if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return frozenset(found)


@pytest.mark.parametrize("finding", FINDINGS)
def test_the_functions_in_a_finding_exist(finding: str) -> None:
    """At least one, none twice, and each where the table says."""
    nodes = FINDINGS[finding]
    assert nodes
    assert len(nodes) == len(set(nodes))
    for node in nodes:
        file, _, name = node.partition("::")
        assert name in functions_in(file), node


@pytest.mark.parametrize("finding", ARGUED)
def test_the_argument_of_a_finding_exists(finding: str) -> None:
    """The page names it."""
    assert finding not in FINDINGS
    assert finding in (ROOT / ARGUED[finding]).read_text("utf-8")


def test_agents_bring_judges() -> None:
    """F-4: what agents need is what their suites need; nearly all of those have text assertions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asking = {"skillgauge-judge-agent", "skillgauge-judges"}
    assert asking <= {requirement.partition(">=")[0] for requirement in project["dependencies"]}
