"""Recorded streams of the real program, read without any process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_agent_programs.accounts import Account, Ending
from skillgauge_agent_programs.json_lines import parse_line
from skillgauge_engine_claude_code.transcript import read_stream

DATA = Path(__file__).parent / "data"
INDEX: dict[str, Any] = json.loads((DATA / "index.json").read_text(encoding="utf-8"))["streams"]
PROMPTS = {"skill-slash-invoked": "/proj-claudeskills please"}


def lines(name: str) -> list[bytes]:
    """Lines of a recorded stream."""
    return (DATA / "streams" / f"{name}.jsonl").read_bytes().splitlines()


def account(name: str) -> Account:
    """What a recorded stream tells."""
    told = INDEX[name]
    killed = name == "timeout-killed"
    ending = Ending(None if killed else told["exit_code"], told["stderr"], timed_out=killed)
    return read_stream(filter(None, map(parse_line, lines(name))), PROMPTS.get(name, "Say PONG"), ending)


def document(told: Account) -> dict[str, Any]:
    """An account as a golden holds it."""
    return {
        "text": told.text,
        "is_over": told.is_over,
        "failure": told.failure and told.failure.model_dump(mode="json", exclude_defaults=True),
        "usage": told.usage and told.usage.model_dump(mode="json"),
        "notes": list(told.notes),
        "trajectory": told.trajectory.model_dump(mode="json", exclude_defaults=True),
    }


@pytest.mark.parametrize("name", INDEX)
def test_golden(name: str) -> None:
    """Every recorded stream gives the account that was checked by hand."""
    assert len(lines(name)) == INDEX[name]["lines"]
    golden = json.loads((DATA / "goldens" / f"{name}.json").read_text(encoding="utf-8"))
    assert document(account(name)) == golden
