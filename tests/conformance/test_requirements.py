"""The list of promises and the tests that claim them agree, both ways."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .requirements import REQUIREMENTS

ROOT = Path(__file__).resolve().parents[2]


@cache
def claimed() -> tuple[tuple[str, str], ...]:
    """Every id that a test claims, with the file that does."""
    return tuple(_claims())


def _claims() -> Iterator[tuple[str, str]]:
    for folder in ("core/tests", "libraries", "plugins", "tests"):
        for path in (ROOT / folder).rglob("test_*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.requirement":
                    for argument in node.args:
                        assert isinstance(argument, ast.Constant), f"{path}: write ids as plain strings"
                        yield str(argument.value), str(path.relative_to(ROOT))


@pytest.mark.slow
def test_every_kept_promise_has_a_test() -> None:
    """A promise that waits for nothing is claimed by at least one test."""
    ids = {one for one, _ in claimed()}
    missing = [one for one, requirement in REQUIREMENTS.items() if not requirement.waits_for and one not in ids]
    assert not missing


def test_every_claimed_id_is_a_promise() -> None:
    """A test cannot claim an id that does not exist."""
    unknown = [f"{one} in {path}" for one, path in claimed() if one not in REQUIREMENTS]
    assert not unknown


def test_what_a_test_claims_is_not_open() -> None:
    """As soon as a test claims a promise, the list says that it is kept."""
    stale = [f"{one} in {path}" for one, path in claimed() if one in REQUIREMENTS and REQUIREMENTS[one].waits_for]
    assert not stale


def test_no_promise_is_left_open() -> None:
    """P-C1: six that belonged to the kernel once waited for nothing but somebody to keep them."""
    assert [one for one, requirement in REQUIREMENTS.items() if requirement.waits_for] == []
