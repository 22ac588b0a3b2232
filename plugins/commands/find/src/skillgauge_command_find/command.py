"""`find`: which skills there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import click

from skillgauge.api import ExitCode, Frozen, JsonObject, plain
from skillgauge.api.report import UNKNOWN, counted, percent
from skillgauge.api.run import (
    GlobalsCommand,
    Invocation,
    ProblemDocument,
    SeveralWords,
    invocation,
    problem_documents,
)
from skillgauge_skill_selection.catalogue import Candidate, Catalogue, search_catalogue
from skillgauge_skill_selection.history import KnownRate, RateSource, best_known, own_rates
from skillgauge_skill_selection.parameters import RATE
from skillgauge_skill_selection.search import has_tags, ranked


class FoundSkill(Frozen):
    """A skill that fits."""

    id: str
    name: str
    version: str | None
    description: str
    adapter: str | None
    tags: tuple[str, ...]
    file: str | None
    """Where it is described; absolute."""
    completion: KnownRate | None
    """The best completion rate that is known of it."""


class FindDocument(Frozen):
    """The output of `find --json`."""

    schema_version: str = "1.0"
    total: int
    """How many skills fit; `skills` holds the first of them."""
    skills: tuple[FoundSkill, ...]
    """Best first."""
    problems: tuple[ProblemDocument, ...] = ()
    """Files that could not be read."""


def schemas() -> Mapping[str, JsonObject]:
    """JSON Schemas of the documents that this command prints."""
    return {"find": FindDocument.model_json_schema()}


_OPTIONS: list[click.Parameter] = [
    click.Argument(["words"], metavar="[WORDS]...", nargs=-1),
    click.Option(["-q", "--query"], default="", metavar="WORDS", help="The same as WORDS."),
    SeveralWords(["-t", "--tag", "tags"], metavar="TAG...", text="Tags that the skill must all have."),
    click.Option(["-a", "--adapter"], metavar="TYPE", help="How the skill is called: http, subprocess, mcp, ..."),
    click.Option(["--min-completion"], type=RATE, metavar="R", help="Least known completion rate, 0 to 1."),
    click.Option(["--limit"], type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Most skills."),
    click.Option(["--skills-dir"], default="./skills", show_default=True, metavar="DIR", help="Folder to search."),
]


def _find(
    *,
    words: tuple[str, ...],
    query: str,
    tags: tuple[str, ...],
    adapter: str | None,
    min_completion: float | None,
    limit: int,
    skills_dir: str,
) -> int:
    call = invocation(click.get_current_context().obj)
    tags_wanted = _separated(tags)
    catalogue = search_catalogue(call, call.cwd / skills_dir, shown=skills_dir)
    fitting = [candidate for candidate in catalogue.candidates if _fits(candidate, tags_wanted, adapter)]
    own = own_rates(call, {candidate.id for candidate in fitting})
    rates = {candidate: best_known(candidate, own.get(candidate.id)) for candidate in fitting}
    values = {candidate: _value(rate) for candidate, rate in rates.items()}
    if min_completion is not None:
        fitting = [candidate for candidate in fitting if _reaches(values[candidate], min_completion)]
    skills = ranked(fitting, " ".join((*words, query)), values.__getitem__)
    _print([(skill, rates[skill]) for skill in skills[:limit]], len(skills), catalogue, call)
    return ExitCode.USAGE if catalogue.has_bad_files else ExitCode.OK


def _separated(words: Iterable[str]) -> list[str]:
    """Return the tags in words that may each hold several, with commas between them."""
    return [tag for word in words for tag in word.split(",") if tag]


def _value(rate: KnownRate | None) -> float | None:
    return None if rate is None else rate.rate


def _fits(candidate: Candidate, tags: list[str], adapter: str | None) -> bool:
    """Return whether a skill has all the tags and is called in this way, if one is named."""
    return has_tags(candidate, tags) and adapter in (None, candidate.adapter)


def _reaches(rate: float | None, least: float) -> bool:
    """Return whether a completion rate is known and high enough."""
    return rate is not None and rate >= least


command = GlobalsCommand(
    "find",
    params=_OPTIONS,
    callback=_find,
    examples=("skillgauge find invoices --min-completion 0.8",),
    help="Search skills, best first: those in whose id, name, tags or description all WORDS occur.",
    short_help="Search skills, best first.",
)


def _print(shown: list[tuple[Candidate, KnownRate | None]], total: int, catalogue: Catalogue, call: Invocation) -> None:
    output = call.output
    output.problems(catalogue.passed_over)
    document = FindDocument(
        total=total,
        skills=tuple(_found(one, rate) for one, rate in shown),
        problems=problem_documents(catalogue.passed_over),
    )
    output.document(document.model_dump(mode="json"))
    if shown:
        output.line(f"Found {counted(total, 'skill')} (showing {len(shown)}):")
        heads = ["ID", "Name", "Version", "Adapter", "Tags", "Completion"]
        output.table(heads, [_row(one, rate) for one, rate in shown])
    if catalogue.nothing:
        output.notice(catalogue.nothing)
    elif not shown:
        output.notice(f"none of {counted(len(catalogue.candidates), 'skill')} fits")
    unread = "; some files could not be read" if catalogue.has_bad_files else ""
    output.verdict(f"{counted(total, 'skill')} found{unread}")


def _found(candidate: Candidate, rate: KnownRate | None) -> FoundSkill:
    return FoundSkill(
        id=candidate.id,
        name=candidate.name,
        version=candidate.version,
        description=candidate.description,
        adapter=candidate.adapter,
        tags=candidate.tags,
        file=candidate.origin.file if candidate.origin else None,
        completion=rate,
    )


def _row(candidate: Candidate, rate: KnownRate | None) -> list[str]:
    texts = [
        candidate.id,
        candidate.name,
        candidate.version or "-",
        candidate.adapter or "-",
        ", ".join(candidate.tags),
    ]
    return [*map(plain, texts), _rate_text(rate)]


def _rate_text(rate: KnownRate | None) -> str:
    """A rate with what is needed to judge it."""
    if rate is None:
        return UNKNOWN
    when = f" {rate.measured_at[:10]}" if rate.measured_at else ""
    where = f" on {rate.benchmark}" if rate.benchmark else ""
    cases = f", n = {rate.cases}" if rate.cases is not None else ""
    source = "published" if rate.source is RateSource.PUBLISHED else "own run"
    return plain(f"{percent(rate.rate)} ({source}{when}{where}{cases})")
