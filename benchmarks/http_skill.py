"""A skill that is a service, end to end with store and reports, against a bare httpx loop.

Run: python benchmarks/http_skill.py [TASKS...]

The service is a process of its own. The floor is a program, too: it posts the same inputs with one client at the same
concurrency, reads the answers, and does nothing else. Both are measured in turns, and the best turn of each counts.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eval_skills_suite import POSTS, SERVICE, use_adapter, write_suite
from measure import best_of, machine, verdict
from subprocess_skill import CONCURRENCY, end_to_end

GOALS = {2000: 0.65, 10_000: 0.65}
TURNS = 3


@contextmanager
def service() -> Iterator[str]:
    """The address of a running service."""
    with subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.terminate()


def floor(url: str, tasks: int) -> float:
    """Seconds of a program that only posts."""
    return best_of([sys.executable, "-c", POSTS, url, str(tasks), str(CONCURRENCY)], times=1)


def main() -> None:
    """Measure and print."""
    print(machine())
    for tasks in [int(word) for word in sys.argv[1:]] or GOALS:
        ours, bare = [], []
        with tempfile.TemporaryDirectory() as name, service() as url:
            folder = Path(name)
            skill, _ = write_suite(folder, tasks)
            use_adapter(skill, "http", url)
            for _ in range(TURNS):
                bare.append(floor(url, tasks))
                ours.append(end_to_end(folder, tasks))
        ratio = min(bare) / min(ours)
        goal = GOALS.get(tasks, 0.0)
        print(
            f"{tasks} tasks: {min(ours):.2f} s ({tasks / min(ours):.0f}/s), bare {min(bare):.2f} s "
            f"({tasks / min(bare):.0f}/s), ratio {ratio:.2f} (goal {goal:g}): {verdict(ratio >= goal)}"
        )


if __name__ == "__main__":
    main()
