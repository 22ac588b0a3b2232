"""skillgauge beside other programs that evaluate skills, agents and models, each on the same job, in turns.

Run, from the root of the repository: python -m benchmarks.peers [--rows NAME...] [--turns N] [--write], or `make peers`

The programs and their versions are in benchmarks/peers.toml. They are installed below .peers, and so is skillgauge,
from wheels that are built from this checkout. A program that cannot be had is named, and its rows do without it. Every
command runs in a new folder with a home of its own, made-up keys, and no way to other machines; a command whose result
is not what was asked for counts for nothing. Processor time is that of all the command's processes.

With `--write` the section of RESULTS.md is replaced by what was measured; without it the section is only printed. The
exit code is 1 if skillgauge itself could not be measured in a row.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import machine
from benchmarks.peer_agents import plugin_eval
from benchmarks.peer_calls import functions, processes, services, sessions
from benchmarks.peer_installs import PINS, SELF, AbsentError, Tools, install, install_self, read_pins
from benchmarks.peer_jobs import Job
from benchmarks.peer_rows import compare, dry_run, page, validate, version
from benchmarks.peer_table import Role, Row, replaced, section
from benchmarks.peer_turns import measured

JOBS = (
    version(),
    dry_run(20),
    validate(500),
    validate(50_000),
    services(500, 2),
    services(500, 8),
    processes(500, 2),
    processes(500, 8),
    functions(1_000),
    sessions(1_000),
    compare(500, validators=False),
    compare(500, validators=True),
    plugin_eval(1),
    plugin_eval(4),
    page(),
)
RESULTS = Path(__file__).with_name("RESULTS.md")


def chosen(names: Sequence[str]) -> list[Job]:
    """Return the jobs of these names, or all of them.

    Raises:
        SystemExit: a name is unknown; the message has those that there are.
    """
    known = {job.name: job for job in JOBS}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"peers: --rows {' '.join(unknown)}: unknown; the rows are {', '.join(known)}")
    return [job for name, job in known.items() if not names or name in names]


def checkout(text: str) -> tuple[str, Path]:
    """Return the name and the folder of NAME=FOLDER."""
    name, sign, folder = text.partition("=")
    if not sign or not Path(folder).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: NAME=FOLDER is expected, with a folder that exists")
    return name, Path(folder).resolve()


def row_of(job: Job, tools: Tools, turns: int | None) -> Row:
    """Measure a job; one that has nothing to be measured beside is a row without figures, which says so."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name, job.commands(tools, Path(name)) as commands:
        if not commands:
            return Row(job.title, (), {"the row": "the program that it is about could not be had"}, 0.0, None)
        return measured(job.title, commands, turns or job.turns)


def about(tools: Tools) -> str:
    """Say when, where, and in which versions."""
    versions = [f"{name} {tool.version}" for name, tool in tools.found.items()]
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    files = ["stat", "--file-system", "--format=%T", tempfile.gettempdir()]
    kind = subprocess.run(files, capture_output=True, text=True, check=False).stdout.strip()
    return (
        f"Measured on {datetime.date.today().isoformat()}: {machine()}, Node {node or 'none'}, "
        f"temporary files on {kind or 'an unknown file system'}; {', '.join(versions)}."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Install, measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rows", nargs="+", default=(), metavar="NAME", help=", ".join(job.name for job in JOBS))
    parser.add_argument("--turns", type=int, metavar="N", help="of each program in each row, instead of the row's own")
    parser.add_argument("--checkout", type=checkout, action="append", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--write", action="store_true", help="replace the section of RESULTS.md")
    options = parser.parse_args(arguments)
    jobs = chosen(options.rows)
    try:
        own = install_self()
    except AbsentError as error:
        sys.exit(f"peers: skillgauge: {error}")
    tools = install(read_pins(PINS.read_text("utf-8")), dict(options.checkout))
    tools.found = {SELF: own, **tools.found}
    rows = []
    for job in jobs:
        print(f"peers: {job.name}", file=sys.stderr)
        rows.append(row_of(job, tools, options.turns))
    text = section(rows, tools.absent, about(tools))
    print(text)
    if options.write:
        RESULTS.write_text(replaced(RESULTS.read_text("utf-8"), text), "utf-8")
    return 0 if all(row.of(Role.OURS) for row in rows if row.entries) else 1


if __name__ == "__main__":
    sys.exit(main())
