"""The row of a real agent's program: `claude plugin eval`, and the same cases with the engine of that program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.peer_installs import SELF, Tools
from benchmarks.peer_jobs import SANDBOXES, Job, counts
from benchmarks.peer_table import Role
from benchmarks.peer_turns import Command

from skillgauge_testkit import ModelReply, ModelServer

CASES = 8
MODEL = "claude-sonnet-4-5"
REASONS = {
    "local": "",
    "bubblewrap": "each session has namespaces, control groups and a relay to its model of its own, which is all that "
    "differs from `local`, where the other one confines nothing",
}


def write_plugin(root: Path) -> Path:
    """Write a plugin with one skill and its cases, each with a grader that a greeting satisfies."""
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin/plugin.json").write_text(json.dumps({"name": "greetings", "version": "1.0.0"}))
    (root / "skills/greet").mkdir(parents=True)
    head = "---\nname: greet\ndescription: Use to say hello.\n---\n"
    (root / "skills/greet/SKILL.md").write_text(f"{head}Say hello.\n")
    for number in range(CASES):
        graders = root / f"evals/guest-{number}/graders"
        graders.mkdir(parents=True)
        (graders.parent / "prompt.md").write_text(f"---\nruns: 1\n---\nSay hello to guest {number}.\n")
        (graders / "hello.md").write_text("---\ntype: regex\n---\nhello\n")
    return root


def passed_runs(document: Any) -> int:
    """Count the runs that passed in either arm, in a result document of `claude plugin eval`."""
    return sum(run["passed"] for case in document["cases"] for runs in case["arms"].values() for run in runs)


def plugin_eval(at_once: int) -> Job:
    """Return the row of both arms of all cases, so many sessions at a time, with a scripted model.

    It has no floor: the program alone, with its defaults, took longer than with what either of the two asks of it.
    """

    @contextmanager
    def commands(tools: Tools, folder: Path) -> Iterator[list[Command]]:
        claude = tools.found.get("claude")
        if claude is None:
            yield []
            return
        (program,) = claude.words
        plugin, ours = str(write_plugin(folder / "greetings")), tools.found[SELF]
        with ModelServer(lambda _request: ModelReply("hello", input_tokens=30, output_tokens=3)) as server:
            seen = {"ANTHROPIC_BASE_URL": server.url}
            theirs = [program, "plugin", "eval", plugin, "--trust-plugin", "--no-publish", "--model", MODEL]
            theirs += ["--concurrency", str(at_once), "--json", "theirs.json"]
            words = [*ours.words, "eval", plugin, "--engine", "claude-code", "--model", MODEL, "--quiet"]
            words += ["--concurrency", str(at_once), "--set", f"engines.claude-code.program={program}"]
            words += [
                "--set",
                f"engines.claude-code.base_url={server.url}",
                "--format",
                "plugin-eval",
                "-o",
                "ours.json",
            ]
            check = counts("ours.json", 2 * CASES, passed_runs)
            yield [
                *(
                    Command(name, Role.OURS, [*words, "--sandbox", name], check, seen, reason=REASONS[name])
                    for name in SANDBOXES
                ),
                Command("claude plugin eval", Role.PEER, theirs, counts("theirs.json", 2 * CASES, passed_runs), seen),
            ]

    return Job(f"plugin-eval-{at_once}", f"{2 * CASES} sessions of `claude`, {at_once} at once", 2, commands)
