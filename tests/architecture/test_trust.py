"""docs/trust.md says what a sandbox does not stop, and the attempts themselves say whether that is true."""

from __future__ import annotations

import ast
import asyncio
import os
import re
from pathlib import Path

import pytest

from skillgauge.api import Sandbox
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_sandbox_local.options import LocalOptions
from skillgauge_sandbox_local.sandbox import LocalSandbox
from skillgauge_testkit.attacks import ATTACKS, Attack, Bounds, attack_sandbox

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "trust.md"
FINDINGS = ROOT / "tests" / "conformance"
THREATS = ["tries to", "what stops it", "shown by", "finding", "not stopped"]
BOUNDS = Bounds()
STOPPED, NOT_STOPPED = "stopped", "not stopped"
COLUMNS = ("`bubblewrap`", "`bubblewrap`, `network: true`", "`docker`", "`local`")
LIMITS = {name: getattr(BOUNDS, name) for name in ("processes", "memory_mb", "file_mb", "disk_mb", "tmp_mb")}


def cells_of(text: str) -> list[list[str]]:
    """The cells of each line of a text."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


BEFORE, _, BEHIND = PAGE.read_text().partition("\n## What is stopped\n")
CELLS = cells_of(BEFORE)
ROWS = {
    first: dict(zip(COLUMNS, rest, strict=True))
    for first, *rest in cells_of(BEHIND.partition("\n## ")[0])
    if len(rest) == len(COLUMNS)
}


def test_table_has_every_attempt() -> None:
    """Each attempt is a row, in order, and no row is about anything else; the strict sandboxes stop them all."""
    assert list(ROWS) == ["A process tries to", "---", *(attack.summary for attack in ATTACKS)]
    assert tuple(ROWS["A process tries to"]) == tuple(ROWS["A process tries to"].values()) == COLUMNS
    assert {ROWS[attack.summary][name] for attack in ATTACKS for name in (COLUMNS[0], COLUMNS[2])} == {STOPPED}


def names_in(path: Path) -> set[str]:
    """The names of the tests of a file, those in classes with the class before them."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        found |= {f"{prefix}{one.name}" for one in inner if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found


def test_every_threat_names_a_test_that_exists() -> None:
    """Each row of the tables of threats says what stops the attempt and names at least one test, by file and name."""
    heads = [row for row in CELLS if row[0] == "tries to"]
    assert heads
    assert all(row == THREATS for row in heads)
    rows = [row for row in CELLS if len(row) == len(THREATS) and row not in heads and set(row[0]) != {"-"}]
    assert [row[0] for row in rows if not row[1] or not row[2]] == []
    named = [name for row in rows for name in re.findall("`([^`]+)`", row[2])]
    missing = [
        name
        for name in named
        if "::" not in name
        or not (ROOT / name.split("::")[0]).is_file()
        or name.split("::", 1)[1] not in names_in(ROOT / name.split("::")[0])
    ]
    assert missing == []


def test_findings_of_the_page_have_tests() -> None:
    """Every finding that a row names is in a list of the tests that keep it out."""
    told = {one for row in CELLS if len(row) == len(THREATS) for one in re.findall(r"\b[A-Z]+-[A-Z]+\d+\b", row[3])}
    kept = set()
    for path in FINDINGS.glob("findings_trust_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Dict):
                kept |= {one.value for one in node.keys if isinstance(one, ast.Constant)}
    assert told <= kept


def outcome(attack: Attack, sandbox: Sandbox) -> str:
    """What the table must say."""
    got = asyncio.run(attack_sandbox(sandbox, [attack], bounds=BOUNDS))
    return STOPPED if got[attack.name] is None else NOT_STOPPED


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_local_stops_what_the_table_says(attack: Attack) -> None:
    """The sandbox that confines nothing lets through all but what its row says."""
    if attack.needs_root and os.getuid():
        pytest.skip("an ordinary user has no right to this, with no sandbox at all")
    assert outcome(attack, LocalSandbox(LocalOptions(disk_mb=BOUNDS.disk_mb))) == ROWS[attack.summary][COLUMNS[3]]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_partial_stops_what_the_table_says(attack: Attack) -> None:
    """With the network left on, what is let through is what the rows say."""
    sandbox = BubblewrapSandbox(BubblewrapOptions(network=True, **LIMITS))
    problems = asyncio.run(sandbox.check()).problems
    if problems:
        pytest.skip(f"{problems[0].message} (make sandbox)")
    assert outcome(attack, sandbox) == ROWS[attack.summary][COLUMNS[1]]
