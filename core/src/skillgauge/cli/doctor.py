"""`plugins doctor`: import every plugin in a process of its own; what is broken is told from what lacks something.

A plugin is broken if it cannot be imported, announces nothing or makes nothing; nobody can use it anywhere. It lacks
something if its own check says so: a key, a program, a service. Who does not use it need not care.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from skillgauge_documents.phrases import counted

from ..config.kind_names import COMMANDS
from ..errors import ExitCode, Problem, UsageError, did_you_mean
from ..plugins.index import IndexEntry
from ..plugins.kinds import KINDS
from ..terminal.output import Output

CHECK_TIMEOUT_S = 60
LACKS = 3
"""Exit code of the process that examines a plugin, where that works and its check finds something missing."""
_LEAST_AT_ONCE = 4
"""Plugins that are examined at once on a machine with few processors; some of them wait for a service."""
_PYTHON = (sys.executable, "-P", "-m")
"""Starts a module; -P: nothing of the current folder is imported."""
_TELL_S = 5.0
"""Seconds between two lines that say how far it is, the first sooner."""
_FIRST_S = 1.0


class State(StrEnum):
    """The health of a plugin."""

    BROKEN = "broken"
    LACKING = "lacks something"
    WORKING = "works"


class Finding(NamedTuple):
    """The result of examining a plugin."""

    state: State
    reason: str | None = None
    asks: str | None = None
    """Which host it asks, as `AskedService.phrase` says it."""

    @property
    def told(self) -> dict[str, object]:
        """Its part of the document, as `plugins_document.PluginDocument` has it."""
        reasons = {State.BROKEN: None, State.LACKING: None, self.state: self.reason}
        return {
            "healthy": self.state is not State.BROKEN,
            "problem": reasons[State.BROKEN],
            "lacks": reasons[State.LACKING],
            "asks": self.asks,
        }


class Request(NamedTuple):
    """The work of the process that examines plugins."""

    plugins: list[tuple[str, str]]
    """Kind and name of each."""
    at_once: int
    limit_s: float
    """Of each."""
    options: dict[str, dict[str, Any]]
    """What the configuration sets of plugins, by `<kind>.<name>`."""


class Report(NamedTuple):
    """The last message of the process that examined a plugin."""

    line: str = ""
    """Why the plugin is broken or what it lacks."""
    asks: str = ""
    """Which host it asks; empty if it asks none, or only a model decides that."""


class Answer(NamedTuple):
    """The end of an examination: its result, or the failure of the process."""

    number: int
    """Of the plugin in the request."""
    code: int | None
    """None: it took too long."""
    line: str
    """What it told, else the last line that it wrote to standard error."""
    asks: str = ""
    """As in its report."""


REQUEST = TypeAdapter(Request)
ANSWER = TypeAdapter(Answer)
REPORT = TypeAdapter(Report)
OPTIONS = TypeAdapter(dict[str, dict[str, Any]])


def chosen(entries: Sequence[IndexEntry], names: Sequence[str]) -> list[IndexEntry]:
    """The plugins that are named, each by its name, distribution or `kind/name`; all if none is.

    Raises:
        UsageError: a name is nobody's; all such ones.
    """
    names_of = {entry: {entry.name, entry.distribution, f"{entry.kind}/{entry.name}"} for entry in entries}
    every = set[str]().union(*names_of.values())
    problems = [
        Problem(
            "plugin.not-installed",
            f"no plugin or distribution is called {name!r}{did_you_mean(name, sorted(every))}",
            hint="See `skillgauge plugins list`.",
        )
        for name in names
        if name not in every
    ]
    UsageError.raise_for(problems)
    return [entry for entry in entries if not names or names_of[entry] & {*names}]


def answer_of(number: int, code: int | None, reported: bytes, errors: bytes) -> Answer:
    """Make the answer for a plugin of what its process left.

    Args:
        number: of the plugin in the request.
        code: with which the process ended; `None` if it took too long.
        reported: its report; empty if it did not come so far.
        errors: what it wrote to standard error, or the end of that.
    """
    if reported:
        report = REPORT.validate_json(reported)
        return Answer(number, code, report.line, report.asks)
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    return Answer(number, code, next(reversed(lines), ""))


def examined(
    entries: Sequence[IndexEntry], output: Output, options: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Finding]:
    """Examine plugins, several at once, and say now and then how far it is.

    Args:
        entries: of the plugins.
        output: where to say it.
        options: what the configuration sets of plugins, by `<kind>.<name>`.
    """
    settled = {number: finding for number, entry in enumerate(entries) if (finding := _settled_state(entry))}
    unsettled = [number for number in range(len(entries)) if number not in settled]
    due = time.monotonic() + _FIRST_S
    values_by_plugin = {name: dict(values) for name, values in (options or {}).items()}
    with contextlib.closing(_answers([entries[number] for number in unsettled], values_by_plugin)) as answers:
        for answer in answers:
            settled[unsettled[answer.number]] = _finding(answer)
            if time.monotonic() >= due:
                due = time.monotonic() + _TELL_S
                output.notice(f"{len(settled)} of {counted(len(entries), 'plugin')} checked")
    unanswered = Finding(State.BROKEN, "the process that examines plugins ended before it reached this one")
    return [settled.get(number, unanswered) for number in range(len(entries))]


def _settled_state(entry: IndexEntry) -> Finding | None:
    """Tell how a plugin is, where nothing has to be imported to know it."""
    if entry.problem:
        return Finding(State.BROKEN, entry.problem)
    if entry.kind not in (*KINDS, COMMANDS):
        return Finding(State.WORKING)  # a mere name
    return None


def _answers(entries: Sequence[IndexEntry], options: dict[str, dict[str, Any]]) -> Generator[Answer]:
    """Yield the result for each plugin as its examination ends; closing the iterator ends all that is under way."""
    plugins = [(entry.kind, f"{entry.distribution}:{entry.name}") for entry in entries]
    if not plugins:
        return
    if hasattr(os, "fork"):
        yield from _forked(Request(plugins, max(_LEAST_AT_ONCE, os.cpu_count() or 1), CHECK_TIMEOUT_S, options))
    else:
        yield from (_started(number, plugin, options) for number, plugin in enumerate(plugins))


def _forked(request: Request) -> Generator[Answer]:
    """Examined by children of one process, which has imported what most of them need."""
    # In a session of its own: Ctrl-C is for this process alone, and the end of its input ends that one.
    server = subprocess.Popen(
        [*_PYTHON, "skillgauge.cli.fork_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with server:
        assert server.stdin
        assert server.stdout
        with contextlib.closing(server.stdin):
            with contextlib.suppress(BrokenPipeError):  # it could not even start, and says why on standard error
                server.stdin.write(REQUEST.dump_json(request) + b"\n")
                server.stdin.flush()
            yield from map(ANSWER.validate_json, server.stdout)


def _started(number: int, plugin: tuple[str, str], options: dict[str, dict[str, Any]]) -> Answer:
    """Examined by a process that imports everything anew, where a process cannot be forked."""
    words = [*_PYTHON, "skillgauge.cli.examination", *plugin]
    try:
        done = subprocess.run(words, input=OPTIONS.dump_json(options), capture_output=True, timeout=CHECK_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return Answer(number, None, "")
    return answer_of(number, done.returncode, done.stdout, done.stderr)


def _finding(answer: Answer) -> Finding:
    if answer.code is None:
        return Finding(State.BROKEN, f"importing and checking it takes longer than {CHECK_TIMEOUT_S} s")
    if answer.code == 0:
        return Finding(State.WORKING, asks=answer.asks or None)
    if answer.code == LACKS:
        return Finding(State.LACKING, answer.line, answer.asks or None)
    return Finding(State.BROKEN, answer.line or f"its process ended with code {answer.code}")


def verdict_of(findings: Sequence[Finding], *, named: bool) -> tuple[ExitCode, str]:
    """Exit code and last line; a plugin that was asked for by its name has to lack nothing."""
    counts = Counter(finding.state for finding in findings)
    working = f"{counts[State.WORKING]} of {counted(len(findings), 'plugin')} work"
    others = [f"{counts[state]} {says}" for state, says in _SAYS.items() if counts[state]]
    told = ", ".join((working, *others))
    if counts[State.BROKEN] or (named and counts[State.LACKING]):
        return ExitCode.USAGE, f"unhealthy: {told}"
    return ExitCode.OK, f"healthy: {told}"


_SAYS = {State.LACKING: "lack a key, a program or a setting", State.BROKEN: "are broken"}
"""The words for the number of plugins in each state."""
