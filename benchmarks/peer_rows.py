"""The jobs that skillgauge and other programs do beside each other: what is written for them, and how each is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peer_installs import SELF, Tool, Tools
from benchmarks.peer_table import Role
from benchmarks.peer_turns import OUTPUT, Command, WrongResultError

SKILL = "---\nname: labels\ndescription: Writes labels. Use when a label is missing.\n---\n\nWrite the label.\n"
MORE_IS_SAID = (
    "it reads the suite with places of every value, compiles every check, and looks for weak spots, where the other "
    "one parses and counts"
)
READ_YAML = "import sys, yaml; yaml.load(open(sys.argv[1]), yaml.CSafeLoader)"
"""The least that reading a suite takes, without a place for anything."""


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


def says(text: str) -> Callable[[Path], None]:
    """Return a check that a command printed a text."""

    def check(work: Path) -> None:
        printed = (work / OUTPUT).read_text("utf-8", "replace")
        if text not in printed:
            raise WrongResultError(f"{text!r} is not in what it printed")

    return check


def of_peer(
    tools: Tools, name: str, words: Callable[[Tool], Sequence[str]], check: Callable[[Path], None]
) -> list[Command]:
    """Return the command of a program, or none if it could not be had."""
    tool = tools.found.get(name)
    return [Command(name, Role.PEER, words(tool), check)] if tool else []


def write_claims(folder: Path, cases: int) -> Path:
    """Write a skill with an eval.yaml of so many cases, each with a claim that its prompt makes true."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    case = "  - name: case-{0:05}\n    prompt: label {0}\n    expectations:\n      - label {0}\n"
    (folder / "eval.yaml").write_text("cases:\n" + "".join(case.format(number) for number in range(cases)))
    return folder


def validate(cases: int) -> Job:
    """Return the row of `validate` on a suite of so many cases."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        suite = write_claims(folder / "labels", cases)
        ours = tools.found[SELF]
        read = [ours.python, "-c", READ_YAML, str(suite / "eval.yaml")]
        yield [
            Command("read as YAML", Role.FLOOR, read, says("")),
            Command(
                "validate",
                Role.OURS,
                [*ours.words, "validate", str(suite)],
                says(f"1 suite, {cases:,} cases"),
                reason=MORE_IS_SAID,
            ),
            *of_peer(
                tools, "skillevaluation", lambda tool: [*tool.words, "validate", str(suite)], says(f"{cases} case(s)")
            ),
        ]

    return Job(f"validate-{cases}", f"`validate`, eval.yaml of {cases:,} cases", 9 if cases < 10_000 else 3, commands)


JOBS = (validate(500), validate(50_000))
