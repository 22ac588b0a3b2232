"""The request of one command, gathered once and handed on as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path

from skillgauge_documents.frozen import EMPTY, JsonObject
from skillgauge_documents.immutables import immutable

from ..errors import Problem
from ..run.budget import BudgetLimits
from ..types.plan import Selection
from ..types.suite import Suite
from ..types.usage import SharedService

Revision = Callable[[tuple[Suite, ...]], tuple[tuple[Suite, ...], tuple[Problem, ...]]]
"""Suites as whoever asks for a run wants them, made of those that were loaded, and what he should know of that."""


def as_loaded(suites: tuple[Suite, ...]) -> tuple[tuple[Suite, ...], tuple[Problem, ...]]:
    """The suites as they were loaded."""
    return suites, ()


def as_opened(path: Path, cwd: Path) -> str:
    """A path as the user can open it: relative to the folder that he is in, if it lies below that."""
    if path.is_relative_to(cwd):
        return str(path.relative_to(cwd))
    return str(path)


PAIRED = "/"
"""Stands between the name of an engine and the one model that it runs with."""


@immutable
class What:
    """The subject of an evaluation."""

    paths: tuple[Path, ...] = ()
    """Absolute paths for any format to claim."""
    format_paths: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Absolute paths for one format, by its name."""
    suite_format: str | None = None
    format_options: JsonObject = EMPTY
    selection: Selection = field(default_factory=Selection)
    same: bool = False
    """Whether each candidate arm is compared with itself."""
    without_judged: bool = False
    """Whether cases that need a judge are skipped."""
    revise: Revision = as_loaded
    """A dataclass of JSON-like fields, in a package of the core or a plugin: executors plan the same run elsewhere."""


@immutable
class Who:
    """By whom it is carried out and graded."""

    executes: bool = True
    """Whether anybody carries it out; not where what was done earlier is graded again."""
    engines: tuple[str, ...] = ()
    """Names, `NAME/MODEL` with the one model of that engine; empty leaves it to the suite, then to the model, or to the
    only one installed."""
    models: tuple[str, ...] = ()
    """For each engine that does not name its own."""
    judges: tuple[str, ...] = ()
    """Names of judges, or model ids that an installed judge claims; several make a panel."""
    judge_models: tuple[str, ...] = ()
    """One for each judge; without names these pick them."""
    judge_model_is_default: bool = False
    """Whether that model was configured without a judge, or for another one: some other may claim it then."""
    judge_temperature: float | None = None
    """Of judges that can be told one."""
    judge_required: bool = False
    """Whether the user asked for a judge in this command, so that a run which needs none must have it too."""
    sandbox: str | None = None
    executor: str | None = None
    """`None` runs in this process."""
    store: str | None = None
    """Path or address of the store; `None` keeps the run in this process."""
    store_given: bool = False
    """Whether the user chose the store, so that its absence is an error."""
    cache: Path | None = None
    """Folder of sessions that are used again; `None` uses none again."""
    record: Path | None = None
    """Folder that agent sessions are recorded in."""
    only_missing: bool = False
    """Whether sessions that lie there already are played back, and only the others are run and recorded."""
    replay: Path | None = None
    """Folder of recordings that are played back in place of agents."""


@immutable
class How:
    """Within which bounds."""

    runs: int | None = None
    """Repeats of every case; `None` leaves them to each suite."""
    detect: float | None = None
    """Difference of two arms, as a fraction, by which the repeats of suites that compare arms are chosen."""
    until_decided: bool = False
    """Whether suites that compare arms run round by round until that difference is decided."""
    baseline: bool | None = None
    """Whether arms that are only baselines run; `None` leaves it to the suite."""
    seed: int = 0
    concurrency: int = 4
    retries: int | None = None
    """`None` leaves it to the kind of trial."""
    timeout_s: float | None = None
    """As given on the command line for this run; before a suite's default, after a case's own."""
    timeout_is_bare: bool = False
    """Whether `timeout_s` was given as a number without a unit."""
    direct_timeout_s: float | None = None
    """For direct calls, where neither a case, nor the user for this run, nor a suite sets one."""
    agent_timeout_s: float = 600.0
    """The same for sessions of agents."""
    max_turns: int | None = None
    budget: BudgetLimits = field(default_factory=BudgetLimits)
    services: tuple[SharedService, ...] = ()
    """Limits of sessions at once, which hold for all runs of the store."""
    untrusted: bool = False
    """Run nothing unless the sandbox confines it strictly, and give skills that are called directly no network."""
    fresh: bool = False
    dry_run: bool = False
    """Nothing will run: an engine, judge, key or program that is missing is a warning."""
    tries_sandbox: bool = True
    """Whether a sandbox is tried even if no case brings an image: this starts a process, and may fetch an image."""
    only_suites: bool = False
    """Whether only the suites are of interest: a sandbox, store or executor that is missing here is a warning."""
    keep_workspaces: bool = False


@immutable
class EvalOptions:
    """One evaluation as a user asks for it."""

    cwd: Path
    what: What = field(default_factory=What)
    who: Who = field(default_factory=Who)
    how: How = field(default_factory=How)

    def unkept(self) -> EvalOptions:
        """The same for a run that is kept nowhere, so that nothing can count it together with others."""
        who = replace(self.who, store=None, store_given=False)
        how = replace(self.how, services=(), budget=replace(self.how.budget, shared=None))
        return replace(self, who=who, how=how)
