"""Repositories of many skills, played by the engine `mock`: some help, some hurt, some do nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CASES = 4
ENGINE = ("--engine", "mock", "--set", "engines.mock.script=mock.yaml", "--runs", "3")
"""The options that every run of such a repository needs."""
_ENDS = {"helps": (True, False), "hurts": (False, True), "useless": (False, False), "same": (True, True)}
"""Of each kind: whether its cases pass with the skill, and without it."""


def write_skills(folder: Path, kinds: Mapping[str, str]) -> None:
    """Write a repository with a skill of each name, of its kind: one of `_ENDS`, or `triggers` for queries alone."""
    replies: list[dict[str, Any]] = []
    for name, kind in kinds.items():
        place = folder / "skills" / name
        (place / "evals").mkdir(parents=True, exist_ok=True)
        (place / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}.\n---\nSay the word.\n")
        if kind == "triggers":
            queries = [{"query": f"{name} number {n}:", "should_trigger": n < 3} for n in range(6)]
            (place / "evals/trigger_evals.json").write_text(json.dumps(queries))
            replies += [_reply(name, n, text="done", fires=[name]) for n in range(3)]
            replies += [_reply(name, n, text="done") for n in range(3, 6)]
        else:
            (place / "evals/evals.json").write_text(json.dumps({"skill_name": name, "evals": _evals(name)}))
            passes = _ENDS[kind]
            for n in range(CASES):
                replies.append(_reply(name, n, skill=name, fires=[name], text="GOOD" if passes[0] else "bad"))
                replies.append(_reply(name, n, text="GOOD" if passes[1] else "bad"))
    (folder / "mock.yaml").write_text(json.dumps({"replies": replies}))


def _evals(name: str) -> Sequence[Mapping[str, Any]]:
    good = {"text": "good", "type": "equals", "value": "GOOD"}
    return [{"id": f"c{n}", "prompt": f"{name} number {n}:", "assertions": [good]} for n in range(CASES)]


def _reply(name: str, number: int, **content: object) -> dict[str, Any]:
    return {"match": f"{name} number {number}:", **content}
