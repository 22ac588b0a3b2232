"""Reading and writing suite files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, Field

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject
from skillgauge_documents.immutables import immutable

from ..errors import Problem
from ..types.arms import GroupKey
from ..types.suite import Suite
from ..types.trial import SuiteHead

if TYPE_CHECKING:
    from ..types.results.summaries import Figure, SuiteSummary

T = TypeVar("T", bound=BaseModel)


@immutable
class Claim:
    """A format recognises a path."""

    dialect: str = ""
    """Which of its dialects, for people."""
    reason: str = ""
    """What it saw, for the message that reports two claims."""
    leaves: tuple[Path, ...] = ()
    """Paths below it that are not part of it, and are searched as if nobody had claimed them."""


class LoadRequest(Frozen):
    """The files to load, and the settings under which they are read."""

    paths: tuple[str, ...]
    """Absolute paths that this format claimed, in the user's order; one suite is made of them."""
    cwd: str
    """Folder that relative paths in options are relative to."""
    options: JsonObject = EMPTY
    """Values of the format's load options, by option name; unset ones are absent."""
    searched: tuple[str, ...] = ()
    """Further paths, found by searching a folder: a bad one among them is reported and passed over."""
    installed: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Names of the plugins that this run may use, by kind: `installed["engines"]`. A plugin that the user blocks is
    absent, as if it were not installed; one that `--plugin` names is there."""

    def options_over(self, configured: T) -> T:
        """Options of a format: those of the configuration, overridden by those of this request that are its own."""
        model = type(configured)
        own = {name: value for name, value in self.options.items() if name in model.model_fields}
        return model.model_validate({**configured.model_dump(exclude_unset=True), **own})


@immutable
class Dumped:
    """A suite in a format's own files."""

    artifacts: tuple[tuple[str, bytes], ...]
    """Relative path and content of each file."""
    losses: tuple[Problem, ...] = ()
    """What the format cannot express, as warnings."""


@immutable
class LoadOption:
    """Marks a field of a format's options model as an option of the commands that load suites.

    Use it as `Annotated[tuple[str, ...], LoadOption("--skills", paths=True)]`. The field's description is its help,
    its type decides how the words are read (`bool` takes none: a flag), and an unset option is absent from
    `LoadRequest.options`.
    """

    flag: str
    metavar: str = "TEXT"
    several_words: bool = False
    """Takes all words up to the next option."""
    paths: bool = False
    """Its words are paths to load with this format, in addition to the positional ones."""


@immutable
class Loaded:
    """Suites from one load request, and the bad files beside them that a search passed over."""

    suites: tuple[Suite, ...]
    problems: tuple[Problem, ...] = ()


class SuiteFormat(Protocol):
    """Read and write one kind of suite files."""

    def claim(self, path: Path) -> Claim | None:
        """Look inside a file or folder and say whether it is this format's. Never raises, never writes."""

    def load(self, request: LoadRequest) -> Loaded:
        """Read everything and check it.

        Raises:
            SuiteError: with every problem of every file.
        """

    def dump(self, suite: Suite) -> Dumped:
        """Write a suite in this format, saying what is lost."""

    def figures(self, summary: SuiteSummary) -> Mapping[GroupKey, tuple[Figure, ...]]:
        """The format's own numbers for the groups of one of its suites; those of a comparison are its candidate's."""


@runtime_checkable
class FormatWithHeadlines(Protocol):
    """A suite format with a figure in place of the pass rate for some of its suites, see `Figure.is_headline`."""

    def has_headline(self, suite: SuiteHead) -> bool:
        """Tell whether `figures` has one for each group of a suite; a plan that is shown asks, before any result."""


@runtime_checkable
class FormatWithFolders(Protocol):
    """A suite format whose suites lie in hidden folders, which a search would not enter."""

    searched_folders: tuple[str, ...]
    """Such folders, relative to any folder that is searched: `.agents/skills`."""
