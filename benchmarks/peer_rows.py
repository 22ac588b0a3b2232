"""Rows of suites: starting, reading, and comparing an agent without a model with and without a skill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.eval_skills_suite import write_suite
from benchmarks.peer_installs import SELF, Tools
from benchmarks.peer_jobs import SANDBOXES, SKILL, Check, Job, counts, of_peer, says
from benchmarks.peer_programs import READ_JSON, READ_YAML, READ_YAML_WITH_PACKAGES, RECORDS, SHELLS
from benchmarks.peer_table import Role
from benchmarks.peer_turns import Command, WrongResultError, once

CLAIM = "    expectations:\n      - label {0}\n"
VALIDATORS = ("grep -q mock response.txt", 'test -n "$RESPONSE_TEXT"')
PAGE_CASES, PAGE_RUNS = 1_250, 2


def version() -> Job:
    """Return the row of `--version`."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        ours = tools.found[SELF]
        yield [
            Command("python -c pass", Role.FLOOR, [ours.python, "-c", "pass"], says("")),
            Command("skillgauge", Role.OURS, [*ours.words, "--version"], says("skillgauge"), reason=INTERPRETED),
            *(
                Command(name, Role.PEER, [*tool.words, "--version"], says("."))
                for name, tool in tools.found.items()
                if tool.words and name != SELF
            ),
        ]

    return Job("version", "`--version`", 9, commands)


def dry_run(cases: int) -> Job:
    """Return the row of a dry run."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        skill, tasks = write_suite(folder, cases)
        ours = tools.found[SELF]
        words = ["eval", "--skills", str(skill), "--tasks", str(tasks), "--dry-run"]
        yield [
            Command("import pydantic", Role.FLOOR, [ours.python, "-c", "import pydantic"], says("")),
            *(
                Command(
                    name,
                    Role.OURS,
                    [*ours.words, *words, "--sandbox", name],
                    says(f"{cases} trials"),
                    reason=DRY_RUN_TRIES,
                )
                for name in SANDBOXES
            ),
            *of_peer(tools, "eval-skills", lambda tool: [*tool.words, *words], says("complete")),
        ]

    return Job("dry-run", f"`eval --dry-run`, {cases} cases", 9, commands)


def validate(cases: int) -> Job:
    """Return the row of `validate` on a suite of so many cases."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        suite = write_cases(folder / "labels", cases, CLAIM)
        ours = tools.found[SELF]
        words = [*ours.words, "validate", str(suite)]
        floors = {"read as YAML": READ_YAML, "read as YAML, packages imported": READ_YAML_WITH_PACKAGES}
        yield [
            *(
                Command(label, Role.FLOOR, [ours.python, "-c", program, str(suite / "eval.yaml")], says(""))
                for label, program in floors.items()
            ),
            Command("skillgauge", Role.OURS, words, says(f"1 suite, {cases:,} cases"), reason=MORE_IS_SAID),
            *of_peer(
                tools, "skillevaluation", lambda tool: [*tool.words, "validate", str(suite)], says(f"{cases} case(s)")
            ),
        ]

    return Job(f"validate-{cases}", f"`validate`, eval.yaml of {cases:,} cases", 9 if cases < 10_000 else 3, commands)


def compare(cases: int, *, validators: bool) -> Job:
    """Return the row of both arms of so many cases, each with a claim or with two commands that check its answer."""
    graded = "    validators:\n" + "".join(f"      - cmd: {command}\n" for command in VALIDATORS)

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        suite = write_cases(folder / "labels", cases, graded if validators else CLAIM)
        ours = tools.found[SELF]
        words = [*ours.words, "eval", str(suite), "--engine", "mock", "--quiet", "--format", "json", "-o", "ours.json"]
        floor = [ours.python, "-c", RECORDS, str(2 * cases)]
        if validators:
            floor = [ours.python, "-c", SHELLS, str(2 * cases), "2", *VALIDATORS]
        check, reasons = (
            counts("ours.json", cases, passed_in_both),
            {"local": COMMANDS_WATCHED, "bubblewrap": COMMANDS_CONFINED} if validators else {},
        )
        yield [
            Command(
                "commands alone" if validators else "records alone", Role.FLOOR, floor, says(f"{2 * cases} passed")
            ),
            *(
                Command(
                    name, Role.OURS, [*words, "--sandbox", name], check, reason=reasons.get(name, SESSIONS_ARE_KEPT)
                )
                for name in SANDBOXES
            ),
            *of_peer(
                tools,
                "skillevaluation",
                lambda tool: [*tool.words, "run", str(suite), "--adapter", "mock", "-o", "theirs.json"],
                counts("theirs.json", cases, passed_in_both),
            ),
        ]

    name = "compare-validators" if validators else "compare"
    what = "two validators a case" if validators else "a claim a case"
    return Job(name, f"A/B of {cases} cases, {what}, eval.yaml", 3, commands)


def page() -> Job:
    """Return the row of the page of a large run, made from its record."""
    trials = 2 * PAGE_CASES * PAGE_RUNS

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        suite = write_cases(folder / "labels", PAGE_CASES, CLAIM)
        ours = tools.found[SELF]
        words = [*ours.words, "eval", str(suite), "--engine", "mock", "--runs", str(PAGE_RUNS), "--sandbox", "local"]
        words += ["--quiet", "--format", "record", "--output-dir", str(folder / "reports")]
        once(Command("record", Role.OURS, words, says("")))
        (record,) = (folder / "reports").glob("*.record.json")
        convert = [
            *ours.words,
            "report",
            "convert",
            "--input",
            str(record),
            "--format",
            "html",
            "--output",
            "page.html",
        ]
        yield [
            Command("read the record", Role.FLOOR, [ours.python, "-c", READ_JSON, str(record)], says("")),
            Command("skillgauge", Role.OURS, convert, has_page(PAGE_CASES)),
        ]

    return Job("page", f"page of a run of {trials:,} trials, from its record", 3, commands)


def has_page(cases: int) -> Check:
    """Return a check that a page was written that names the last case."""

    def check(work: Path) -> None:
        if f"case-{cases - 1:05}" not in (work / "page.html").read_text("utf-8"):
            raise WrongResultError("the last case is not on the page")

    return check


def write_cases(folder: Path, cases: int, graded: str) -> Path:
    """Write a skill with an eval.yaml of so many cases, each with what grades it; {0} there is its number."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    case = "  - name: case-{0:05}\n    prompt: label {0}\n" + graded
    (folder / "eval.yaml").write_text("cases:\n" + "".join(case.format(number) for number in range(cases)))
    return folder


def passed_in_both(document: Any) -> int:
    """Count the cases that passed in both arms, in a result document of eval.yaml."""
    return sum(case["outcome"] == "pass_kept" for case in document["cases"])


INTERPRETED = "Python's interpreter has to start first, where the other one is compiled"
MORE_IS_SAID = (
    "it keeps the place of every value, compiles every check, and looks for weak spots, where the other one parses and "
    "counts"
)
DRY_RUN_TRIES = (
    "it reads and plans the suite and tries the sandbox with a process, where the other one ends before both"
)
SESSIONS_ARE_KEPT = (
    "each session has a record that survives a kill, and a judge asked as any other, whose answer is compared with the "
    "output that may have dictated it, where the other one keeps nothing until its end"
)
COMMANDS_CONFINED = (
    "each command has file system, processes and network of its own, where the other one's has only a network of its "
    "own, or none, and what it writes lands on the machine"
)
COMMANDS_WATCHED = (
    "each session has a folder that is compared before and after, and whatever a command leaves behind is ended, where "
    "the other one starts it and waits"
)
