"""Rows of calls: a skill as a process, as a service and as a function, and cases of an agent without a model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.eval_skills_suite import POSTS, SERVICE, use_adapter, write_suite
from benchmarks.peer_installs import SELF, Tools
from benchmarks.peer_jobs import SANDBOXES, SKILL, Check, Job, counts, of_peer, says
from benchmarks.peer_programs import (
    DEEPEVAL,
    DOUBLE,
    IN_PROCESS,
    INSPECT,
    PYDANTIC_EVALS,
    RECORDS,
    SPAWNS,
    WORKER,
)
from benchmarks.peer_table import Role
from benchmarks.peer_turns import OUTPUT, Command, WrongResultError

PYTHON = str(Path(sys.executable).resolve())
"""An interpreter that a sandbox shows."""
COPIED = ("sh", "-c", 'cp "$0" task.py && exec "$@"')
"""Begins a command that wants its file in the folder in which it runs."""
CONFINED = "each process has file system, processes and network of its own, where the other one confines nothing"
ANOTHER_PROCESS = "the function is in another process, which costs a message each way, where the other one calls it"
A_RECORD_EACH = "each session has a record that survives a kill, where the other ones call a function"


def passed_tasks(document: Any) -> int:
    """Count the tasks that passed, in a report of the format eval-skills."""
    return sum(task["status"] == "pass" for task in document[0]["taskResults"])


def kept(check: Check) -> Check:
    """Return a check that the other program kept its results, too, which it does without if a module was not built."""

    def check_both(work: Path) -> None:
        if "fallback to in-memory" in (work / OUTPUT).read_text("utf-8", "replace"):
            raise WrongResultError("it stores nothing; build better-sqlite3 in its checkout")
        check(work)

    return check_both


def evaluation(skill: Path, tasks: Path, at_once: int) -> list[str]:
    """Return the words of an evaluation that both programs understand, with a report in JSON and one in Markdown.

    A skill that is named by its folder runs in it in both of them.
    """
    return [
        *("eval", "--skills", str(skill), "--tasks", str(tasks), "--concurrency", str(at_once)),
        *("--format", "json", "markdown", "--output-dir", "reports"),
    ]


def processes(tasks: int, at_once: int) -> Job:
    """Return the row of a process for each task, so many at a time."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        skill, path = write_suite(folder, tasks, python=PYTHON)
        ours, words = tools.found[SELF], evaluation(skill.parent, path, at_once)
        check = counts("reports/eval-result*.json", tasks, passed_tasks)
        spawns = [PYTHON, "-c", SPAWNS, str(folder), str(tasks), str(at_once), PYTHON, "-I", "-S", "skill.py"]
        yield [
            Command("processes alone", Role.FLOOR, spawns, says(f"{tasks} passed")),
            *(
                Command(
                    name,
                    Role.OURS,
                    [*ours.words, *words, "--quiet", "--sandbox", name],
                    check,
                    reason=CONFINED if name != "local" else "",
                )
                for name in SANDBOXES
            ),
            *of_peer(tools, "eval-skills", lambda tool: [*tool.words, *words], kept(check)),
        ]

    return Job(f"processes-{at_once}", f"{tasks} tasks, a process each, {at_once} at once", 3, commands)


def services(tasks: int, at_once: int) -> Job:
    """Return the row of a skill that is a service, so many requests at a time."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        skill, path = write_suite(folder, tasks)
        ours, words = tools.found[SELF], evaluation(skill.parent, path, at_once)
        check = counts("reports/eval-result*.json", tasks, passed_tasks)
        with subprocess.Popen([PYTHON, "-c", SERVICE], stdout=subprocess.PIPE) as service:
            assert service.stdout is not None
            try:
                url = f"http://127.0.0.1:{int(service.stdout.readline())}/"
                use_adapter(skill, "http", url)
                yield [
                    Command(
                        "httpx alone", Role.FLOOR, [ours.python, "-c", POSTS, url, str(tasks), str(at_once)], says("")
                    ),
                    Command("skillgauge", Role.OURS, [*ours.words, *words, "--quiet"], check),
                    *of_peer(tools, "eval-skills", lambda tool: [*tool.words, *words], kept(check)),
                ]
            finally:
                service.terminate()

    return Job(f"http-{at_once}", f"{tasks} tasks over HTTP, {at_once} at once", 5, commands)


def libraries(tools: Tools, folder: Path, cases: int) -> list[Command]:
    """Return the programs that call a function, or a model that is none, for each of so many cases."""
    (folder / "task.py").write_text(INSPECT)
    tests = [
        {"vars": {"text": f"label {n}"}, "assert": [{"type": "contains", "value": f"label {n}"}]} for n in range(cases)
    ]
    config = folder / "promptfoo.json"
    config.write_text(json.dumps({"prompts": ["{{text}}"], "providers": ["echo"], "tests": tests}))
    passed, inspect_words = says(f"{cases} passed"), ["--model", "mockllm/model", "--display", "none"]
    inspect_words += ["--log-format", "json", "--log-dir", "logs", "-T", f"n={cases}"]
    promptfoo_words = ["eval", "-c", str(config), "--no-cache", "--no-table", "--no-progress-bar", "-o", "out.json"]
    return [
        *of_peer(tools, "pydantic-evals", lambda tool: [tool.python, "-c", PYDANTIC_EVALS, str(cases)], passed),
        *of_peer(tools, "deepeval", lambda tool: [tool.python, "-c", DEEPEVAL, str(cases)], passed),
        *of_peer(
            tools,
            "inspect",
            lambda tool: [*COPIED, str(folder / "task.py"), *tool.words, "eval", "task.py", *inspect_words],
            counts("logs/*.json", cases, correct_samples),
        ),
        *of_peer(
            tools,
            "promptfoo",
            lambda tool: [*tool.words, *promptfoo_words],
            counts("out.json", cases, lambda document: document["results"]["stats"]["successes"]),
        ),
    ]


def correct_samples(document: Any) -> int:
    """Count the samples that were correct, in a log of Inspect."""
    return sum(sample["scores"]["includes"]["value"] == "C" for sample in document["samples"])


def functions(cases: int) -> Job:
    """Return the row of a function that is called for each case."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        ours = tools.found[SELF]
        check = counts("reports/eval-result*.json", cases, passed_tasks)
        suites = {}
        for way in ("in process", "worker", "adapter python"):
            place = folder / way.replace(" ", "-")
            place.mkdir()
            suites[way] = write_suite(place, cases, python=PYTHON)
        (folder / "worker/skill.py").write_text(WORKER)
        (folder / "worker/adapter.config.json").write_text(json.dumps({"worker": True}))
        (folder / "adapter-python/skill.py").write_text(DOUBLE)
        use_adapter(suites["in process"][0], "double", "double")
        use_adapter(suites["adapter python"][0], "custom", "skill.py:answer")
        called = [ours.python, "-c", IN_PROCESS, *map(str, suites["in process"]), "local"]

        def words(way: str) -> list[str]:
            return [*ours.words, *evaluation(*suites[way], at_once=2), "--quiet", "--sandbox", "local"]

        yield [
            Command("import pydantic", Role.FLOOR, [ours.python, "-c", "import pydantic"], says("")),
            Command("in process", Role.OURS, called, says(f"{cases} passed")),
            Command("worker", Role.OURS, words("worker"), check, reason=ANOTHER_PROCESS),
            Command("adapter python", Role.OURS, words("adapter python"), check, reason=ANOTHER_PROCESS),
            *libraries(tools, folder, cases),
        ]

    return Job("functions", f"{cases:,} cases, a function", 3, commands)


def sessions(count: int) -> Job:
    """Return the row of sessions of an agent without a model."""

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        ours = tools.found[SELF]
        evals = folder / "labels/evals/evals.json"
        evals.parent.mkdir(parents=True)
        (folder / "labels/SKILL.md").write_text(SKILL)
        cases = [
            {
                "id": n,
                "prompt": f"label {n}",
                "assertions": [{"text": "said", "type": "contains", "value": f"label {n}"}],
            }
            for n in range(1, count + 1)
        ]
        evals.write_text(json.dumps({"skill_name": "labels", "evals": cases}))
        words = [*ours.words, "eval", str(folder / "labels"), "--engine", "mock", "--no-baseline", "--quiet"]
        words += ["--format", "record", "--output-dir", "reports"]
        check = counts("reports/run-*.record.json", count, passed_trials)
        yield [
            Command("records alone", Role.FLOOR, [ours.python, "-c", RECORDS, str(count)], says(f"{count} passed")),
            *(Command(name, Role.OURS, [*words, "--sandbox", name], check, reason=A_RECORD_EACH) for name in SANDBOXES),
            *libraries(tools, folder, count),
        ]

    return Job("sessions", f"{count:,} scripted sessions, a check each", 3, commands)


def passed_trials(document: Any) -> int:
    """Count the trials that passed, in a record."""
    return sum(result["verdict"] == "pass" for result in document["results"])
