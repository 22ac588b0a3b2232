"""`plugins doctor` examines several plugins at once, and Ctrl-C ends all of it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Program

WAITING = """
import os, signal
os.write(os.open(os.environ["TOLD"], os.O_WRONLY), b"%d\\n" % os.getpid())  # stays open until the process ends
signal.pause()
"""


@pytest.mark.e2e
def test_an_interrupted_doctor_leaves_no_process(program: Program, work: Path) -> None:
    """At least four begin before any ends; the signal ends them, those whose turn has not come never start."""
    (work / "acme-1.dist-info").mkdir()
    (work / "acme-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    entries = "".join(f"acme-{number} = acme:command\n" for number in range(40))
    (work / "acme-1.dist-info/entry_points.txt").write_text(f"[skillgauge.commands]\n{entries}")
    (work / "acme.py").write_text(WAITING)
    told = work / "told"
    os.mkfifo(told)
    environment = {**program.environment, "PYTHONPATH": str(work), "TOLD": str(told)}
    command: list[str | Path] = [PROGRAM, "plugins", "doctor", "acme"]
    doctor = subprocess.Popen(command, cwd=work, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    try:
        with told.open() as lines:
            first = [next(lines) for _ in range(4)]
            doctor.send_signal(signal.SIGINT)
            rest = list(lines)  # ends when nobody is left who could write
        _, said = doctor.communicate(timeout=TIME_LIMIT_S)
    finally:
        doctor.kill()
        doctor.wait()
    assert doctor.returncode == 130
    assert said.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in said
    assert len({*first, *rest}) <= max(4, os.cpu_count() or 1)
