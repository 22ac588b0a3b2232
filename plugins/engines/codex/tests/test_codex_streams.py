"""Recorded streams of the real program, read without any process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skillgauge_agent_programs.accounts import Account, Ending
from skillgauge_agent_programs.json_lines import parse_line
from skillgauge_engine_codex.transcript import CodexTranscript

DATA = Path(__file__).parent / "data"
INDEX: dict[str, Any] = json.loads((DATA / "index.json").read_text(encoding="utf-8"))["streams"]


def lines(name: str) -> list[bytes]:
    """Lines of a recorded stream; none if there is no such recording."""
    path = DATA / "streams" / f"{name}.jsonl"
    return path.read_bytes().splitlines() if path.exists() else []


def account(name: str) -> Account:
    """What a recorded stream tells, with its session file if that was recorded too."""
    told = INDEX[name]
    killed = name == "timeout-killed"
    transcript = CodexTranscript(("proj-agentsskills",) if name == "skill-read" else ())
    for record in filter(None, map(parse_line, lines(name))):
        list(transcript.read(record))
    for record in filter(None, map(parse_line, lines(f"{name}.rollout"))):
        transcript.read_rollout(record)
    return transcript.account(Ending(None if killed else told["exit_code"], told["stderr"], timed_out=killed))


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
