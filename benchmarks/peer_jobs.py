"""Parts that rows share: a job, checks that all of it was done, and commands of what could be had."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peer_installs import Tool, Tools
from benchmarks.peer_table import Role
from benchmarks.peer_turns import OUTPUT, Command, WrongResultError

Check = Callable[[Path], None]

SKILL = "---\nname: labels\ndescription: Writes labels. Use when a label is missing.\n---\n\nWrite the label.\n"
SANDBOXES = ("local", "bubblewrap")


@dataclass(frozen=True)
class Job:
    """A row of the table.

    Args:
        name: what `--rows` calls it.
        title: what the table calls it.
        turns: how often each program runs, unless told otherwise.
        commands: writes what is needed into a folder, and yields the programs that are measured.
    """

    name: str
    title: str
    turns: int
    commands: Callable[[Tools, Path], AbstractContextManager[Sequence[Command]]]


def says(text: str) -> Check:
    """Return a check that a command printed a text."""

    def check(work: Path) -> None:
        printed = (work / OUTPUT).read_text("utf-8", "replace")
        if text not in printed:
            raise WrongResultError(f"{text!r} is not in what it printed")

    return check


def counts(pattern: str, number: int, count: Callable[[Any], int]) -> Check:
    """Return a check that the one JSON document of that name says that so much was done."""

    def check(work: Path) -> None:
        paths = sorted(work.glob(pattern))
        if not paths:
            raise WrongResultError(f"there is no {pattern}")
        try:
            done = count(json.loads(paths[0].read_text("utf-8")))
        except (ValueError, LookupError, TypeError) as error:
            raise WrongResultError(f"{pattern} is no result: {error!r}") from error
        if done != number:
            raise WrongResultError(f"{done} of {number} in {pattern}")

    return check


def of_peer(tools: Tools, name: str, words: Callable[[Tool], Sequence[str]], check: Check) -> list[Command]:
    """Return the command of a program, or none if it could not be had."""
    tool = tools.found.get(name)
    return [Command(name, Role.PEER, words(tool), check)] if tool else []
