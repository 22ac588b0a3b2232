"""docs/trust.md says what a sandbox does not stop, and the attempts themselves say whether that is true."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from skillgauge.api import Sandbox
from skillgauge_sandbox_bubblewrap.options import BubblewrapOptions
from skillgauge_sandbox_bubblewrap.sandbox import BubblewrapSandbox
from skillgauge_sandbox_local.sandbox import LocalSandbox
from skillgauge_testkit.attacks import ATTACKS, Attack, Bounds, attack_sandbox

PAGE = Path(__file__).resolve().parents[2] / "docs" / "trust.md"
BOUNDS = Bounds()
STOPPED, NOT_STOPPED = "stopped", "not stopped"
COLUMNS = ("`bubblewrap`", "`bubblewrap`, `network: true`", "`local`")
CELLS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines()]
ROWS = {first: dict(zip(COLUMNS, rest, strict=True)) for first, *rest in CELLS if len(rest) == len(COLUMNS)}


def test_table_has_every_attempt() -> None:
    """Each attempt is a row, in order, and no row is about anything else; the strict sandbox stops them all."""
    assert list(ROWS) == ["A process tries to", "---", *(attack.summary for attack in ATTACKS)]
    assert tuple(ROWS["A process tries to"]) == tuple(ROWS["A process tries to"].values()) == COLUMNS
    assert {ROWS[attack.summary][COLUMNS[0]] for attack in ATTACKS} == {STOPPED}


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
    assert outcome(attack, LocalSandbox()) == ROWS[attack.summary][COLUMNS[2]]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_partial_stops_what_the_table_says(attack: Attack) -> None:
    """With the network left on, what is let through is what the rows say."""
    options = {name: getattr(BOUNDS, name) for name in ("processes", "memory_mb", "file_mb", "disk_mb", "tmp_mb")}
    sandbox = BubblewrapSandbox(BubblewrapOptions(network=True, **options))
    problems = asyncio.run(sandbox.check()).problems
    if problems:
        pytest.skip(f"{problems[0].message} (make sandbox)")
    assert outcome(attack, sandbox) == ROWS[attack.summary][COLUMNS[1]]
