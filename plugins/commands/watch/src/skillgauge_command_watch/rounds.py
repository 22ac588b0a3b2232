"""One run, in a process of its own: it reads plugins and files anew, and what goes wrong there ends that run only."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from skillgauge.api import ExitCode

_PASSED_ON = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def run(words: Sequence[str]) -> int:
    """Carry out a command of skillgauge to its end, which a signal to this process hastens.

    Args:
        words: the command line after `skillgauge`.

    Returns:
        Its exit code; that of an interrupted run if a signal came.
    """
    process: subprocess.Popen[bytes] | None = None
    came: list[int] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        if process is not None:
            process.send_signal(number)

    kept = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    try:
        # A group of its own: what a terminal sends comes here first, and to the run once and not twice. `-P`: the
        # current folder is no place for modules.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "skillgauge", *words], stdin=subprocess.DEVNULL, process_group=0
        )
        if came:
            process.send_signal(came[-1])
        code = process.wait()
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    return ExitCode.INTERRUPTED if came else code
