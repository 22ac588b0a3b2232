"""skillevaluation's own mock runner and this one over one suite, twice each: with no work to do, and with validators.

Run: python benchmarks/side_by_side.py [CASES]   (500)

The bare floor makes and removes two workspaces for each case, several at once: a folder with a place to work, a home
and a place for temporary files, as every session of ours has them. The reference makes one folder and runs one session
after another. The second turn of each program meets the cache that its first one left. The reference keeps nothing
until its end; ours has its store. Goals: without validators within 2.5 times the bare folders and start of the program,
with validators in the default sandbox faster than the reference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import BIN, in_threads, machine, verdict

CASES = 500
AT_ONCE = 4
GOAL = 2.5
SKILL = "---\nname: labels\ndescription: Writes labels.\n---\n\nWrite the label.\n"
VALIDATORS = ["grep -q mock response.txt", 'test -n "$RESPONSE_TEXT"']


def write_suite(folder: Path, cases: int, *, validators: bool) -> Path:
    """A skill with that many cases; without validators each has a claim that the made-up judges find true."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    graded = {"validators": [{"cmd": one} for one in VALIDATORS]}
    made = [
        {"name": f"case-{n}", "prompt": f"label {n}", **(graded if validators else {"expectations": [f"label {n}"]})}
        for n in range(cases)
    ]
    (folder / "eval.yaml").write_text(json.dumps({"cases": made}))
    return folder


def bare(cases: int) -> float:
    """Seconds of making and removing the workspaces of that many cases."""

    def one(_: int) -> None:
        with tempfile.TemporaryDirectory(prefix="bare-") as folder:
            for part in ("work", "home", "tmp"):
                Path(folder, part).mkdir(mode=0o700)

    return in_threads(one, 2 * cases, at_once=AT_ONCE)


def timed(command: list[str], work: Path) -> float:
    """Seconds of a command with nothing of this machine in its surroundings."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LANG": "C.UTF-8", "CI": "true"}
    started = time.perf_counter()
    subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def main(cases: int) -> int:
    """Run both programs; return 1 if a goal is missed."""
    print(machine())
    reached = True
    floor = min(bare(cases) for _ in range(2))
    for validators in (False, True):
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            suite = str(write_suite(work / "labels", cases, validators=validators))
            theirs = [str(BIN / "skillevaluation"), "run", suite, "--adapter", "mock", "-o", "theirs.json"]
            ours = [str(BIN / "skillgauge"), "eval", suite, "--engine", "mock", "-o", "ours.json", "--format", "json"]
            seconds = {"skillevaluation": [timed(theirs, work) for _ in range(2)]}
            seconds["skillgauge"] = [timed(ours, work) for _ in range(2)]
            start = timed([str(BIN / "skillgauge"), "eval", suite, "--engine", "mock", "--dry-run"], work)
            rates = [json.loads((work / one).read_text())["pass_rate"] for one in ("theirs.json", "ours.json")]
        assert rates[0] == rates[1]
        what = "with validators" if validators else "without validators"
        for program, found in seconds.items():
            print(f"{what}: {program}: {found[0]:.2f} s, then {found[1]:.2f} s")
        mine = min(seconds["skillgauge"])
        if validators:
            theirs_s = min(seconds["skillevaluation"])
            ok, goal = mine < theirs_s, f"{theirs_s / mine:.2f} times as fast as the reference (goal above 1)"
        else:
            ratio = mine / (floor + start)
            told = f"bare folders {floor:.2f} s and start {start:.2f} s"
            ok, goal = ratio <= GOAL, f"{ratio:.2f} times {told} (goal {GOAL})"
        print(f"{what}: {goal}: {verdict(ok)}")
        reached = reached and ok
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES))
