"""Graders for which there is no scorer, as shell commands that can be read again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from skillgauge.api import JsonObject, freeze, thaw

_OUTPUT_PROGRAM = """import json, re, subprocess, sys
demand = json.loads(sys.argv[1])
done = subprocess.run(demand["command"], shell=True, capture_output=True)
stdout, stderr = (one.decode("utf-8", "replace") for one in (done.stdout, done.stderr))
faults = []
if done.returncode != demand["expected_exit_code"]:
    sys.stderr.write(stderr[-2000:])
    if done.returncode in (126, 127):
        sys.exit(done.returncode)
    faults.append(f"exit code {done.returncode} instead of {demand['expected_exit_code']}")
for key, holds in (
    ("stdout_contains", lambda text: text in stdout),
    ("stderr_contains", lambda text: text in stderr),
    ("stdout_matches", lambda _: re.search(demand["python"]["stdout_matches"], stdout)),
    ("stdout_not_matches", lambda _: not re.search(demand["python"]["stdout_not_matches"], stdout)),
):
    if key in demand and not holds(demand[key]):
        faults.append(f"{key} {demand[key]!r} does not hold")
if faults:
    sys.exit("; ".join(faults))
"""
_NO_FILE_PROGRAM = """import json, pathlib, re, sys
demand = json.loads(sys.argv[1])
path = demand["path"] + ("/*" if demand["path"].endswith("**") else "")
hits = []
for file in sorted(pathlib.Path(".").glob(path)):
    if file.is_file() and str(file) != "response.txt":
        text = file.read_text(encoding="utf-8", errors="replace")
        if demand["value"] in text if "value" in demand else re.search(demand["python"]["pattern"], text):
            hits.append(str(file))
if hits:
    sys.exit("it is in " + ", ".join(hits[:20]))
"""
_PROGRAM = ("python3", "-I", "-c")
PYTHON = "python"
"""Key of a demand for its patterns as Python reads them, by their own keys."""


def output_command(demand: JsonObject) -> str:
    """Return a command that runs another and looks at its exit code and its output.

    Args:
        demand: keys of a grader, and `python` with its patterns.
    """
    return _command(_OUTPUT_PROGRAM, demand)


def no_file_command(demand: JsonObject) -> str:
    """Return a command that looks for a text or a pattern in all files of a path, and passes if it is in none."""
    return _command(_NO_FILE_PROGRAM, demand)


def _command(program: str, demand: JsonObject) -> str:
    return shlex.join((*_PROGRAM, program, json.dumps(thaw(freeze(demand)), ensure_ascii=False)))


def output_demand(command: str) -> JsonObject | None:
    """Return the demand of a command of `output_command`; `None` if it is another one."""
    return _demand(_OUTPUT_PROGRAM, command)


def no_file_demand(command: str) -> JsonObject | None:
    """Return the demand of a command of `no_file_command`; `None` if it is another one."""
    return _demand(_NO_FILE_PROGRAM, command)


def _demand(program: str, command: str) -> JsonObject | None:
    try:
        words = shlex.split(command)
        demand = json.loads(words[-1]) if words[:-1] == [*_PROGRAM, program] else None
    except ValueError:  # a quotation that is open, or no JSON
        return None
    return {key: value for key, value in demand.items() if key != PYTHON} if isinstance(demand, Mapping) else None
