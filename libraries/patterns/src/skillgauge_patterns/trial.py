"""Runs as a program of its own: compiles a pattern within limits, or dies. Its input is a JSON object."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Try a pattern that the caller knows to be valid."""
    order = json.load(sys.stdin)
    import regex  # noqa: PLC0415 - it takes memory, too, which is no fault of the pattern

    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - not everywhere

        used_s = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])) + order["cpu_s"]
        resource.setrlimit(resource.RLIMIT_CPU, (used_s, used_s))
        resource.setrlimit(resource.RLIMIT_DATA, (order["memory"], order["memory"]))
    try:
        regex.compile(order["pattern"], order["flags"])
    except (regex.error, RecursionError, OverflowError):
        return
    except MemoryError:
        sys.exit(1)


if __name__ == "__main__":
    main()
