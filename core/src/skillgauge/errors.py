"""Everything that can go wrong, with its place and the exit code that it means.

    SkillgaugeError
    +-- UsageError            exit 2   the command line or the configuration
    |   +-- EmptySelection    exit 5   a selector of `eval` or `test` selected nothing
    +-- SuiteError            exit 2   the files that describe what to evaluate
    +-- PluginError           exit 2   a plugin is absent, broken, doubled or misconfigured
    +-- PolicyError           exit 2   an extension refused the plan; nothing was run
    +-- StoreError            exit 3   results cannot be kept

A gate that is not met is an exit code and a message, not an exception. This module needs only the standard
library, because the command line uses it before anything heavy is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum


class ExitCode(IntEnum):
    """The process's answer to its caller."""

    OK = 0
    """All is well; what was only measured and gated by nothing is well, too."""
    GATE_MISSED = 1
    """A gate was not met, or a case failed where the format says that this fails the run."""
    USAGE = 2
    """A problem of the command line, configuration, plugins or suites: all of them are listed, and nothing was run
    except what stood beside bad files in a searched folder."""
    INVALID_RUN = 3
    """The results prove nothing (too many trials ended in an error, or errors leave open whether a gate is met), or
    skillgauge itself failed: then the message names the file with the traceback."""
    BUDGET = 4
    """Stopped by a budget; a partial report is written, and the same command runs the rest."""
    NOTHING_SELECTED = 5
    """A selector matched nothing."""
    INTERRUPTED = 130
    """Interrupted; what was finished is kept and reported, and the same command goes on from there."""


class Severity(StrEnum):
    """The weight of a problem: an error stops the run."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in a source file that a value came from, before anyone asked for its line.

    Lines are looked up only when a problem is shown (`skillgauge.config.documents.locate`), because finding them
    costs more than reading the file.
    """

    file: str
    """Path as the user can open it; for what he typed, the option."""
    pointer: tuple[str | int, ...] = ()
    """Keys and indices from the root of the document down to the value."""
    place: tuple[int, int] | None = None
    """Line and column, from 1, where the format knows them itself: of a file that is neither JSON nor YAML."""


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """A place in a file, counted from 1 as editors do."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, self.line, self.column]
        return ":".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and what to do about it."""

    code: str
    """Stable dotted name, for example `suite.no-check`; scripts may depend on it."""
    message: str
    origin: Origin | None = None
    span: SourceSpan | None = None
    """Filled from `origin` when the problem is shown."""
    hint: str | None = None
    """The next step for the reader, as a complete imperative sentence."""
    severity: Severity = Severity.ERROR

    def at(self, span: SourceSpan) -> Problem:
        """This problem with its place known."""
        return replace(self, span=span)

    def __str__(self) -> str:
        where = f"{self.span}: " if self.span else f"{self.origin.file}: " if self.origin else ""
        text = f"{where}{self.severity}[{self.code}]: {self.message}"
        return (f"{text}\nnext: {self.hint}" if self.hint else text).replace("\n", "\n  ")


def errors_among(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that stop the run."""
    return [problem for problem in problems if problem.severity is Severity.ERROR]


class SkillgaugeError(Exception):
    """Root of everything skillgauge raises on purpose; carries all problems that were found at once.

    Args:
        problems: what is wrong; at least one.
    """

    exit_code = ExitCode.INVALID_RUN

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def raise_for(cls, problems: Collection[Problem]) -> None:
        """Raise an error with all problems, if there is any.

        Raises:
            SkillgaugeError: of this class.
        """
        if problems:
            raise cls(problems)

    def __reduce__(self) -> tuple[type[SkillgaugeError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class UsageError(SkillgaugeError):
    """The command line or the configuration asks for something impossible."""

    exit_code = ExitCode.USAGE


class EmptySelection(UsageError):  # noqa: N818 - it names the outcome; "error" would suggest a fault
    """A selector was given and matched nothing."""

    exit_code = ExitCode.NOTHING_SELECTED


class SuiteError(SkillgaugeError):
    """Files that describe what to evaluate are wrong; lists every problem of every file."""

    exit_code = ExitCode.USAGE


class PluginError(SkillgaugeError):
    """A plugin that this run names is absent, broken, doubled, incompatible or misconfigured."""

    exit_code = ExitCode.USAGE


class LaunchError(OSError):
    """A process could not be started: program absent, not executable, folder gone, no more processes."""


class PolicyError(SkillgaugeError):
    """Raised by an extension's `skillgauge_plan_ready` to forbid the run."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Problem | Iterable[Problem] | str) -> None:
        super().__init__(Problem("policy.refused", problems) if isinstance(problems, str) else problems)


class StoreError(SkillgaugeError):
    """Results cannot be written or read back."""

    exit_code = ExitCode.INVALID_RUN


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Name the nearest known names, as a phrase to append to a message; empty when none is near.

    For a name that denies something, such as `output_excludes`, only names that do so too: never the opposite.
    """
    import re  # noqa: PLC0415 - this module is part of every start
    from difflib import get_close_matches  # noqa: PLC0415 - as above

    denies = re.compile(r"(^|[_-])(not?|without|never|absent|exclu|forbid)", re.IGNORECASE)
    candidates = list(filter(denies.search, names)) if denies.search(name) else names
    near = get_close_matches(name, candidates, n=3, cutoff=0.6 if candidates is names else 0.5)
    return f" (did you mean {' or '.join(near)}?)" if near else ""
