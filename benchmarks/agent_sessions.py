"""Sessions of a real agent, many at once, against the least time that their number at once allows.

Run: python benchmarks/agent_sessions.py PROGRAM, where PROGRAM is the path of `claude` (`make engines`).

A scripted model takes its time with each answer, so that a session lasts at least as long. The floor is the sum of the
sessions' own times, as the run measured them, divided by how many run at once; the rest of the whole command's time is
what planning, workspaces, grading, the store, the reports and idle places cost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import BIN, machine, verdict

from skillgauge_testkit import ModelReply, ModelServer

GOAL = 1.15
EVALS = 20
ARMS = 2
CONCURRENCY = 8
SESSION_S = 4.0
SKILL = "---\nname: greet-well\ndescription: Says hello the proper way.\n---\n# Greeting\n\nSay ZEBRA.\n"


def write_skill(folder: Path) -> Path:
    """A skill with that many evals, each graded by a command."""
    suite = folder / "greet-well" / "evals" / "evals.json"
    suite.parent.mkdir(parents=True)
    (folder / "greet-well" / "SKILL.md").write_text(SKILL)
    graded = [{"text": "nothing is left behind", "type": "command", "value": "test ! -e left.txt"}]
    evals = [{"id": n, "prompt": f"Say hello to guest {n}", "assertions": graded} for n in range(1, EVALS + 1)]
    suite.write_text(json.dumps({"skill_name": "greet-well", "evals": evals}))
    return suite


def main(program: str) -> int:
    """Run it once and print the ratio; return 1 if the goal is missed."""
    reply = ModelReply("hello", input_tokens=30, output_tokens=3, delay_s=SESSION_S)
    with ModelServer(lambda _request: reply) as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [str(BIN / "skillgauge"), "eval", str(write_skill(folder)), "--engine", "claude-code", "--quiet"]
        command += ["--model", "claude-sonnet-4-5", "--concurrency", str(CONCURRENCY), "--sandbox", "local"]
        command += ["--set", f"engines.claude-code.program={program}", "--format", "record"]
        command += ["--set", f"engines.claude-code.base_url={server.url}", "--output-dir", str(folder / "reports")]
        environment = {"PATH": os.environ["PATH"], "HOME": name, "LANG": "C.UTF-8"}
        environment["ANTHROPIC_API_KEY"] = "no-key-is-needed-here-0123456789"
        started = time.perf_counter()
        subprocess.run(command, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - started
        (record,) = (folder / "reports").glob("run-*.record.json")
        sessions = [one["execution"]["duration_s"] for one in json.loads(record.read_text())["results"]]
    assert len(sessions) == EVALS * ARMS
    assert min(sessions) >= SESSION_S
    floor = sum(sessions) / CONCURRENCY
    ratio = took / floor
    print(machine())
    told = f"{len(sessions)} sessions of {min(sessions):.1f} to {max(sessions):.1f} s, {CONCURRENCY} at once"
    print(f"{told}: {took:.1f} s, floor {floor:.1f} s, ratio {ratio:.2f} (goal {GOAL}): {verdict(ratio <= GOAL)}")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
