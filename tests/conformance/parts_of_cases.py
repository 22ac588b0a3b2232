"""Parts of a case beside its checks, and the formats that hold each; the rules by which its checks pass it.

The table is checked from both sides, as that of the kinds of checks is: a part that a format holds comes back as it
was, and of every other part a loss is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from skillgauge.api import (
    Case,
    Check,
    FileSpec,
    HostVariable,
    Limits,
    RepeatRule,
    SimulatedUser,
    Suite,
    VerdictMode,
    VerdictRule,
    canonical_json,
)

from .kinds_of_checks import HELD, kinds

Fields: TypeAlias = dict[str, Any]

_USER = Check(id="user", scorer="simulated-user", options={"instructions": "You are Ann, and want a red boat."})
PARTS: Mapping[str, Callable[[Random, int], Fields]] = {
    "turns": lambda rng, number: {"turns": tuple(rng.sample(("In blue?", "And: why #1?", "- Again."), 2))},
    "turns with braces": lambda rng, number: {"turns": ("Say {{it}} again.", rng.choice(("{% if %}", "In blue?")))},
    "simulated user": lambda rng, number: {"user": SimulatedUser(check=_USER, turns=rng.choice((3, 10)))},
    "name": lambda rng, number: {"name": f"greeting-{number}"},
    "description": lambda rng, number: {"description": rng.choice(("About a name.", "Asks: yes # or no?"))},
    "tag": lambda rng, number: {"tags": (rng.choice(("quick", "a b")),)},
    "tags": lambda rng, number: {"tags": tuple(rng.sample(("quick", "nightly", "a b"), 2))},
    "cluster": lambda rng, number: {"cluster": rng.choice(("one", "two"))},
    "weight": lambda rng, number: {"weight": rng.choice((0.5, 2.0, 3.0))},
    "repeats": lambda rng, number: {"runs": 3},
    "own repeats": lambda rng, number: {"runs": 2 + number},
    "limits": lambda rng, number: {"limits": Limits(timeout_s=rng.choice((77.0, 90.0)), max_turns=7)},
    "limit of time": lambda rng, number: {"limits": Limits(timeout_s=77.0 + number)},
    "limit of turns": lambda rng, number: {"limits": Limits(max_turns=rng.choice((4, 7)))},
    "files": lambda rng, number: {"files": (FileSpec(path=f"data/in-{number}.txt", text=rng.choice(("é\n", "x"))),)},
    "executable files": lambda rng, number: {
        "files": (FileSpec(path=f"run-{number}.sh", text="#!/bin/sh\n", executable=True),)
    },
    "set-up": lambda rng, number: {"setup": ("mkdir out", "touch 'out/a b'")},
    "own set-up": lambda rng, number: {"setup": (f"mkdir -p out/{number}",)},
    "variables": lambda rng, number: {"env": {"LEVEL": "3", "PLACE": "a: b"}},
    "own variables": lambda rng, number: {"env": {"LEVEL": f"{number}"}},
    "variables of the host": lambda rng, number: {
        "pass_env": (HostVariable(name="TOKEN", host="TOKEN"), HostVariable(name="MODE", host="HOW", default="x"))
    },
    "files of graders": lambda rng, number: {
        "grader_files": (FileSpec(path=f"tests/wanted-{number}.txt", text="x\n"),)
    },
    "prompts of arms": lambda rng, number: {"arm_prompts": (("without_skill", "Say it plainly."),)},
    "network": lambda rng, number: {"network": True},
    "rule of repeats": lambda rng, number: {"repeat_rule": RepeatRule(share=1.0, above=False)},
    "skipped": lambda rng, number: {"skip": "Not now."},
}
"""By name the fields of a case, made for its number."""
TALKS = frozenset({"turns", "turns with braces"})
"""Parts that make a case a conversation of written turns."""
EXCLUSIVE = (
    {"tag", "tags"},
    {"repeats", "own repeats"},
    {"limits", "limit of time", "limit of turns"},
    {"set-up", "own set-up"},
    {"variables", "own variables"},
    {"files", "executable files"},
    {"turns", "turns with braces", "simulated user"},
)
"""Parts of which a case has one: they are about the same field, or would need each other's rules."""


def _parts(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(","))


HELD_PARTS: Mapping[str, frozenset[str]] = {
    "agent-skills": _parts(
        """name, description, tag, tags, cluster, weight, limits, limit of time, limit of turns, files, set-up,
        own set-up, prompts of arms"""
    ),
    "agentv": _parts("turns, turns with braces, description, tag, tags, cluster, repeats, limit of time, files"),
    "benchflow": _parts("variables, own variables, variables of the host"),
    "eval-skills": _parts("description, tag, tags, cluster, weight, limit of time"),
    "plugin-eval": _parts("name, description, tag, tags, repeats, own repeats, limits"),
    "promptfoo": _parts("turns, turns with braces, simulated user, cluster, repeats"),
    "skill-up": _parts("turns, simulated user, name, description, tag, limit of time, files, set-up, variables"),
    "skillevaluation": _parts("description, tag, tags, limit of turns, files, set-up, own set-up"),
    "skillgrade": _parts("repeats, own repeats, limit of time, files, executable files"),
    "tessl": _parts("name, description, files"),
    "uaaps": _parts("name, description, variables, network"),
    "vally": _parts(
        """turns, turns with braces, description, tag, tags, repeats, files, set-up, own set-up, variables,
        own variables, files of graders"""
    ),
    "waza": _parts(
        """turns, turns with braces, simulated user, name, description, tag, tags, repeats, limit of time, files,
        variables, own variables"""
    ),
}
"""By format the parts that it holds."""

RULES: Mapping[str, VerdictRule] = {
    "all": VerdictRule(),
    "half of the share": VerdictRule(mode=VerdictMode.MEAN, threshold=0.5),
    "more than half of the share": VerdictRule(mode=VerdictMode.MEAN, threshold=0.5, above=True),
    "three quarters of the share": VerdictRule(mode=VerdictMode.MEAN, threshold=0.75),
    "four fifths of the share": VerdictRule(mode=VerdictMode.MEAN, threshold=0.8),
}
"""By name the rules of a case."""
SHARES = frozenset(RULES) - {"all", "more than half of the share"}

HELD_RULES: Mapping[str, frozenset[str]] = {
    "agent-skills": SHARES | {"all"},
    "agentv": SHARES | {"all"},
    "benchflow": frozenset({"more than half of the share"}),
    "eval-skills": frozenset({"all"}),
    "plugin-eval": frozenset({"all"}),
    "promptfoo": SHARES | {"all"},
    "skill-up": frozenset({"all"}),
    "skillevaluation": frozenset({"all"}),
    "skillgrade": frozenset({"half of the share"}),
    "tessl": frozenset({"four fifths of the share"}),
    "uaaps": frozenset({"all"}),
    "vally": SHARES | {"all"},
    "waza": frozenset({"all"}),
}
"""By format the rules that it holds; a format with a single one has it in every case."""

ABOUT_ALL: Mapping[str, frozenset[str]] = {
    "agentv": HELD["agentv"] - {"graded"},
    "skill-up": HELD["skill-up"],
    "vally": HELD["vally"],
    "waza": HELD["waza"],
}
"""By format the kinds of checks that can be about a whole conversation."""
ABOUT_TURN: Mapping[str, frozenset[str]] = {
    "agentv": HELD["agentv"] - {"graded"},
    "promptfoo": HELD["promptfoo"],
    "skill-up": kinds("contains not-contains contains-all contains-none contains-any tool not-tool tool-arguments"),
    "vally": HELD["vally"] - {"tool", "not-tool"},
}
"""By format the kinds of checks that can be about one turn."""


REQUIRED: Mapping[str, frozenset[str]] = {
    "agentv": ABOUT_TURN["agentv"],
    "skill-up": kinds("contains not-contains contains-all contains-none contains-any"),
}
"""By format the kinds of checks that may end a conversation."""
WORDS: Mapping[str, str] = {
    "turns": "turn",
    "turns with braces": "turn",
    "simulated user": "user",
    "weight": "weight",
    "tag": "tags",
    "repeats": "runs",
    "own repeats": "runs",
    "limits": "limit",
    "limit of time": "limit",
    "limit of turns": "limit",
    "executable files": "executable|files",
    "set-up": "setup",
    "own set-up": "setup",
    "variables": "env|variables",
    "own variables": "env|variables",
    "variables of the host": "env",
    "files of graders": "grader",
    "prompts of arms": "prompt",
    "rule of repeats": "repeat.rule",
    "skipped": "skip",
}
"""By part the words of a loss that is about it, where those are not the part's own name."""


def value(part: str, case: Case, suite: Suite) -> object:
    """Return what a case of a suite says of a part, as it takes effect."""
    (field,) = PARTS[part](Random(0), 0)
    if field == "runs":
        return case.runs or suite.defaults.runs
    if field == "limits":
        return case.limits.over(suite.defaults.limits)
    if field == "user":
        user = case.user
        return user and (user.check.scorer, canonical_json(user.check.options), user.turns)
    if field in ("files", "grader_files"):
        return [(file.path, file.executable, _content(file)) for file in getattr(case, field)]
    return getattr(case, field)


def _content(file: FileSpec) -> bytes:
    if file.source is None:
        return (file.text or "").encode()
    return Path(file.source).read_bytes()


def page() -> str:
    """Return the tables of a page: the parts of a case and the rules by format, and what each two formats share."""
    rows = ["| part of a case | formats |", "|---|---|"]
    for names, held in ((PARTS, HELD_PARTS), (RULES, HELD_RULES)):
        for name in names:
            formats = ", ".join(f"`{one}`" for one in sorted(held) if name in held[one])
            rows.append(f"| {name if names is PARTS else f'passes with {name}'} | {formats or 'none'} |")
    return "\n".join((*rows, "", *_matrix()))


def _matrix() -> list[str]:
    formats = sorted(HELD)
    rows = [f"| kinds of checks in common | {' | '.join(f'`{name}`' for name in formats)} |"]
    rows.append("|---" * (len(formats) + 1) + "|")
    for name in formats:
        rows.append(f"| `{name}` | {' | '.join(str(common(name, other)) for other in formats)} |")
    return rows


def common(first: str, second: str) -> int:
    """Return the number of kinds of checks that two formats share; none of a direct call and a question."""
    if (first == "eval-skills") is not (second == "eval-skills"):
        return 0
    return len(HELD[first] & HELD[second])
