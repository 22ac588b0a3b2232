"""The documents that the command prints and writes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillgauge.api import Frozen
from skillgauge.api.run import ProblemDocument

from .model import MatrixRow, PairRow, SkillRow


class AlikePair(Frozen):
    """Two skills whose names and descriptions are alike."""

    first: str
    second: str
    likeness: float


class PlannedSessions(Frozen):
    """The sessions that a map takes."""

    screening: int
    """With everything installed: each query so many times as there are repeats."""
    leave_one_out: int
    """The second part: at most so many before the first part is over, then exactly."""
    skills: int
    queries: int
    runs: int


class QueryRow(Frozen):
    """A query that was asked."""

    query_of: str
    """The skill that it belongs to."""
    id: str
    """Unique among the queries of that skill."""
    prompt: str


class MapPlanDocument(Frozen):
    """The output of `map --dry-run --json`."""

    schema_version: Literal["1.0"] = "1.0"
    dry_run: bool = True
    exit_code: int = 0
    verdict: str
    engine: str
    model: str | None
    paid: bool
    """Whether a session costs money."""
    sessions: PlannedSessions
    description_tokens: int
    alike: tuple[AlikePair, ...]
    """The most alike first; these are left out if one of them does not fire when it should."""
    problems: tuple[ProblemDocument, ...] = ()


class MapDocument(Frozen):
    """The output of `map --json`, and the report `map-result.json`."""

    schema_version: Literal["1.0"] = "1.0"
    exit_code: int
    verdict: str
    state: Literal["finished", "stopped", "interrupted"]
    started_at: float
    """Seconds since the epoch."""
    engine: str
    model: str | None
    runs: tuple[str, ...]
    """Ids of the runs that it rests on, for `report show`: the first part, then the second if there was one."""
    sessions: PlannedSessions
    """As they were planned once the suspects were known."""
    unknown: int
    """Sessions that ended in an error or do not tell which skills fired."""
    tokens: int
    """Of all sessions, as far as the engine reports them."""
    cost_usd: float
    description_tokens: int
    """Of the whole catalogue, estimated."""
    level: float
    """Corrected p values up to it count as proof."""
    tested: int
    """Pairs that were left out, for which p values are corrected."""
    skills: tuple[SkillRow, ...]
    pairs: tuple[PairRow, ...]
    matrix: tuple[MatrixRow, ...]
    queries: tuple[QueryRow, ...]
    notices: tuple[str, ...] = ()
    reports: dict[str, str] = Field(default_factory=dict)
    """Path of each report that was written."""
    problems: tuple[ProblemDocument, ...] = ()
