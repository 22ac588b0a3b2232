"""The skills that there are to choose from: found by the installed formats, or listed in a JSON file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from skillgauge.api import (
    Document,
    Frozen,
    JsonObject,
    JsonValue,
    Origin,
    Problem,
    Severity,
    SkillgaugeError,
    SuiteError,
    Target,
    UsageError,
    plain,
    read_document,
)
from skillgauge.api.run import Invocation
from skillgauge_validation import validate

_NOTHING_HERE = "usage.unknown-format"
"""Code of the problem that a path holds nothing for any installed format."""


class Candidate(Frozen):
    """One skill."""

    id: str
    name: str = ""
    version: str | None = None
    description: str = ""
    adapter: str | None = None
    """How it is called directly; `None` if only an agent can use it."""
    tags: tuple[str, ...] = ()
    document: JsonObject
    """The skill object, as it stands in its file."""
    origin: Origin | None = None


@dataclass(frozen=True)
class Catalogue:
    """The result of a search."""

    candidates: tuple[Candidate, ...]
    passed_over: tuple[Problem, ...] = ()
    """Files that could not be read."""
    nothing: str = ""
    """Why there is no candidate."""

    @property
    def has_bad_files(self) -> bool:
        """True if a file was passed over that is wrong, not merely of no use here."""
        return any(problem.severity is Severity.ERROR for problem in self.passed_over)


def load_catalogue(call: Invocation, *places: Path) -> Catalogue:
    """The skills at some places.

    Args:
        call: the command line, whose formats read them.
        places: files, or folders to search; absolute.

    Raises:
        SkillgaugeError: as `Invocation.targets`.
    """
    targets, passed_over = call.targets(*places)
    return Catalogue(tuple(candidate_of(target) for target in targets), passed_over)


def search_catalogue(call: Invocation, place: Path, *, shown: str) -> Catalogue:
    """As `load_catalogue`, but a place without any skill, or that does not exist, is an answer and no error.

    Args:
        call: the command line.
        place: a folder to search, or a file; absolute.
        shown: the place as the user wrote it.
    """
    if not place.exists():
        return Catalogue((), nothing=f"{shown!r} does not exist")
    nothing = f"{shown!r} holds no skill that an installed format knows"
    try:
        catalogue = load_catalogue(call, place)
    except SkillgaugeError as error:
        if any(one.code != _NOTHING_HERE and one.severity is Severity.ERROR for one in error.problems):
            raise
        return Catalogue((), tuple(one for one in error.problems if one.code != _NOTHING_HERE), nothing)
    return catalogue if catalogue.candidates else Catalogue((), catalogue.passed_over, nothing)


def candidate_of(target: Target) -> Candidate:
    """A candidate that a format has loaded."""
    return Candidate(
        id=target.id,
        name=target.name,
        version=target.version,
        description=target.description,
        adapter=target.adapter,
        tags=target.tags,
        document=_document_of(target),
        origin=target.origin,
    )


def _document_of(target: Target) -> JsonObject:
    """The object that stands in the skill's own file, else one made in its likeness."""
    origin = target.origin
    if origin is not None and not origin.pointer and origin.file.endswith(".json"):
        value = read_document(Path(origin.file)).value
        if isinstance(value, Mapping) and value.get("id") == target.id:
            return value
    document: dict[str, JsonValue] = {
        "id": target.id,
        "name": target.name,
        "version": target.version,
        "description": target.description,
        "tags": target.tags,
        "adapterType": target.adapter,
        "entrypoint": target.entrypoint,
        "metadata": target.metadata,
    }
    return {key: value for key, value in document.items() if value is not None}


class _ListedSkill(Frozen):
    """A skill object in a JSON file: what selecting needs of it; all else is kept and not looked at."""

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=to_camel)

    id: str = Field(min_length=1)
    name: str = ""
    version: str | None = None
    description: str = ""
    adapter_type: str | None = None
    tags: tuple[str, ...] = ()


def read_candidates(path: Path) -> tuple[Candidate, ...] | None:
    """The skills of a JSON file with an array of skill objects; `None` if the file holds something else.

    Raises:
        SuiteError: it cannot be read, or one of the objects is no skill.
    """
    document = read_document(path, kind="json")
    if not isinstance(document.value, tuple):
        return None
    problems: list[Problem] = []
    candidates: list[Candidate] = []
    for index, value in enumerate(document.value):
        try:
            candidates.append(_listed(value, document, index))
        except SuiteError as error:
            problems += error.problems
    if problems:
        raise SuiteError(problems)
    return tuple(candidates)


def _listed(value: object, document: Document, index: int) -> Candidate:
    skill = validate(_ListedSkill, value, document, index)
    assert isinstance(value, Mapping)  # else it were no skill object
    return Candidate(
        id=skill.id,
        name=skill.name,
        version=skill.version,
        description=skill.description,
        adapter=skill.adapter_type,
        tags=skill.tags,
        document=value,
        origin=document.origin(index),
    )


def require_unique_ids(candidates: Iterable[Candidate]) -> None:
    """Refuse candidates that a report cannot tell apart.

    Raises:
        UsageError: two have the same id.
    """
    first: dict[str, Candidate] = {}
    problems = []
    for candidate in candidates:
        if candidate.id in first:
            places = [skill.origin.file if skill.origin else "" for skill in (first[candidate.id], candidate)]
            message = f"two candidates have the id {plain(candidate.id)!r}: {places[0]} and {places[1]}"
            hint = "Reports name skills by their ids: give one of them another id, or leave it out."
            problems.append(Problem("select.duplicate-id", message, origin=candidate.origin, hint=hint))
        first.setdefault(candidate.id, candidate)
    if problems:
        raise UsageError(problems)
