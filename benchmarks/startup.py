"""Start-up time of the command line against a bare interpreter, every built-in installed.

Run: python benchmarks/startup.py
"""

from __future__ import annotations

import sys

from measure import BIN, best_of, machine, verdict

GOALS = {"--version": 2.0, "--help": 5.0, "plugins list": 6.0}
TIMES = 15


def main() -> None:
    """Measure and print."""
    print(machine())
    program = str(BIN / "skillgauge")
    for arguments, goal in GOALS.items():
        floor = best_of([sys.executable, "-c", "pass"], times=TIMES)
        seconds = best_of([program, *arguments.split()], times=TIMES)
        again = best_of([sys.executable, "-c", "pass"], times=TIMES)
        floor = min(floor, again)
        ratio = seconds / floor
        print(
            f"{arguments:13} {seconds * 1000:6.1f} ms, bare {floor * 1000:5.1f} ms, "
            f"ratio {ratio:4.1f} (goal {goal:g}): {verdict(ratio <= goal)}"
        )


if __name__ == "__main__":
    main()
