"""A skill whose worker answers many tasks against the same skill with one process per task, both end to end.

Run: python benchmarks/worker.py [TASKS...]

Skill, tasks, store and reports are those of `subprocess_skill.py`, except that the skill answers line by line, so that
it can do both. Both are measured in turns, and the best turn of each counts.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from eval_skills_suite import write_suite
from measure import machine, verdict
from subprocess_skill import end_to_end

GOALS = {2000: 10.0}
TURNS = 3
SKILL = """import json, sys
for line in sys.stdin:
    request = json.loads(line)
    n = request["params"].get("n", 0)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"result": str(n * 2)}}), flush=True)
"""


def main() -> None:
    """Measure and print."""
    print(machine())
    for tasks in [int(word) for word in sys.argv[1:]] or GOALS:
        single, worker = [], []
        with tempfile.TemporaryDirectory() as name:
            folders = Path(name, "single"), Path(name, "worker")
            for folder in folders:
                folder.mkdir()
                write_suite(folder, tasks)
                (folder / "skill.py").write_text(SKILL)
            (folders[1] / "adapter.config.json").write_text(json.dumps({"worker": True}))
            for _ in range(TURNS):
                single.append(end_to_end(folders[0], tasks))
                worker.append(end_to_end(folders[1], tasks))
        ratio = min(single) / min(worker)
        goal = GOALS.get(tasks, 0.0)
        print(
            f"{tasks} tasks: {min(worker):.2f} s ({tasks / min(worker):.0f}/s), one process per task "
            f"{min(single):.2f} s ({tasks / min(single):.0f}/s), ratio {ratio:.1f} (goal {goal:g}): "
            f"{verdict(ratio >= goal)}"
        )


if __name__ == "__main__":
    main()
