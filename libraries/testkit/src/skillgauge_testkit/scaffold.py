"""Make a new plugin: a distribution that installs, passes its tests and does something small from the start.

What it consists of lies in `templates/`: a folder for each kind, and `project` for what all have in common. A file
`src/x.py.in` there becomes `src/<module>/x.py`. `$name` and its like are filled in by `string.Template`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from string import Template

from packaging.version import Version

from skillgauge import __version__
from skillgauge.api import Problem, UsageError
from skillgauge.cli.app import BUILT_IN
from skillgauge.config.kind_names import COMMANDS, SINGULAR, plural_of
from skillgauge.plugins.index import CORE, PluginIndex
from skillgauge.plugins.installed import read_index

LONGEST_NAME = 40
"""Characters; longer ones make unreadable tables and lines of code."""
LONGEST_SUMMARY = 80
"""Characters, for the same reason."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TEMPLATES = Path(__file__).with_name("templates")

_PROGRAM = "#!"
"""How a file begins that can be executed."""

_SUMMARIES: Mapping[str, str] = {
    "formats": "Suites in one file: a program, and what it has to answer.",
    "adapters": "Call a skill as a program: JSON on stdin, JSON on stdout.",
    "engines": "Drive an agent program that tells what it does in lines of JSON.",
    "scorers": "The answer holds none of some phrases.",
    "judges": "Grade with a model server that speaks Chat Completions.",
    "sandboxes": "Folders of their own and a low priority for every process.",
    "reporters": "A line for each trial that did not pass, as text.",
    "stores": "Keep runs as files of JSON lines in a folder.",
    "executors": "Have attempts made by workers that dial in, here or elsewhere.",
    "extensions": "Refuse runs that are too large, and log those that have ended.",
    "commands": "List the trials of a result document that did not pass.",
}
"""What the plugin made for each kind does, as `plugins list` shows it."""

_FURTHER: Mapping[str, tuple[str, ...]] = {
    "formats": ("skillgauge-validation$core_range",),
    "engines": ("skillgauge-agent-programs$core_range",),
    "judges": ("skillgauge-model-client$core_range",),
    "sandboxes": ("skillgauge-processes$core_range",),
    "executors": ("skillgauge-run-content$core_range", "skillgauge-workers$core_range"),
    COMMANDS: ("click>=8.1",),
}
"""Requirements beyond the core."""


@dataclass(frozen=True)
class Project:
    """A plugin to be made."""

    kind: str
    """Plural."""
    name: str
    """As users will type it."""
    told: str = ""
    """What it will do; empty for what the plugin made for its kind does."""

    @property
    def summary(self) -> str:
        """The summary that `plugins list` shows."""
        return self.told or _SUMMARIES[self.kind]

    @property
    def singular(self) -> str:
        """The kind's singular."""
        return SINGULAR[self.kind]

    @property
    def distribution(self) -> str:
        """The name to install: messages give it for a plugin that is absent."""
        return f"skillgauge-{self.singular}-{self.name}"

    @property
    def module(self) -> str:
        """The package to import."""
        return self.distribution.replace("-", "_")

    @property
    def entry(self) -> str:
        """The object that the entry point names."""
        return f"{self.module}.command:command" if self.kind == COMMANDS else f"{self.module}.plugin"

    def files(self) -> Iterator[tuple[str, str]]:
        """Path, relative to the project's folder, and content of each file, in no particular order."""
        core_range = compatible(__version__)
        values = {
            "kind": self.kind,
            "singular": self.singular,
            "name": self.name,
            "distribution": self.distribution,
            "module": self.module,
            "entry": self.entry,
            "title": "".join(part.capitalize() for part in self.name.split("-")),
            "variable": self.name.replace("-", "_").upper(),
            "summary": self.summary,
            "core_range": core_range,
        }
        requirements = (
            f"{CORE}{core_range}",
            *(Template(one).substitute(values) for one in _FURTHER.get(self.kind, ())),
        )
        values["dependencies"] = ", ".join(f'"{one}"' for one in requirements)
        for folder in ("project", self.kind):
            for template in sorted((_TEMPLATES / folder).rglob("*.in")):
                place = template.relative_to(_TEMPLATES / folder).as_posix().removesuffix(".in")
                place = re.sub("^src/", f"src/{self.module}/", place).replace("gitignore", ".gitignore")
                yield place, Template(template.read_text(encoding="utf-8")).substitute(values)


def compatible(version: str) -> str:
    """The range of cores that a plugin written for this one can expect to work with.

    Example:
        >>> compatible("0.3.1"), compatible("1.4.0"), compatible("2.0.0rc1")
        ('>=0.3,<0.4', '>=1.4,<2', '>=2.0.0rc1,<3')
    """
    parsed = Version(version)
    first = str(parsed) if parsed.is_prerelease else f"{parsed.major}.{parsed.minor}"
    return f">={first},<{parsed.major + 1}" if parsed.major else f">={first},<0.{parsed.minor + 1}"


def new_project(kind: str, name: str, index: PluginIndex, names: tuple[str, ...] = (), summary: str = "") -> Project:
    """Make a project of the user's answers.

    Args:
        kind: plural or singular.
        name: of the new plugin.
        index: what is installed: another plugin of that name would clash with the new one.
        names: names of commands that no plugin can have.
        summary: what it will do, in a line; empty for that of the plugin made for its kind.

    Raises:
        UsageError: with everything that is wrong with kind, name and summary.
    """
    problems = [*_wrong_name(name), *_wrong_summary(summary)]
    try:
        plural = plural_of(kind)
    except UsageError as error:
        raise UsageError([*error.problems, *problems]) from None
    problems = problems or list(_clashes(plural, name, index, names))
    if problems:
        raise UsageError(problems)
    return Project(plural, name, summary)


def installed_project(kind: str, name: str, summary: str = "") -> Project:
    """Make a project of the user's answers, beside the plugins that are installed here; see `new_project`."""
    return new_project(kind, name, read_index(), tuple(BUILT_IN), summary)


def _wrong_name(name: str) -> Iterator[Problem]:
    if _NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return
    words = re.findall("[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name).lower())
    near = re.sub("^[-0-9]+", "", "-".join(words))[:LONGEST_NAME].rstrip("-")
    suggestion = f" (did you mean {near}?)" if near else ""
    hint = f"Use lower-case words joined by hyphens, at most {LONGEST_NAME} characters, for example acme-tone."
    yield Problem("usage.plugin-name", f"{name!r} cannot be the name of a plugin{suggestion}", hint=hint)


def _wrong_summary(summary: str) -> Iterator[Problem]:
    if summary.isprintable() and len(summary) <= LONGEST_SUMMARY and not set(summary) & {'"', "\\"}:
        return  # it stands in a string of Python and of TOML
    hint = f"Write one line of at most {LONGEST_SUMMARY} characters, without double quotes and backslashes."
    yield Problem("usage.plugin-summary", f"{summary!r} cannot be the summary of a plugin", hint=hint)


def _clashes(kind: str, name: str, index: PluginIndex, names: tuple[str, ...]) -> Iterator[Problem]:
    owners = [f"{entry.distribution} {entry.version}" for entry in index.find(kind, name)]
    if kind == COMMANDS and name in names:
        owners.append(CORE)
    if owners:
        message = f"there is already a {SINGULAR[kind]} {name!r}, of {' and '.join(owners)}"
        hint = f"Choose another name, for example with your organisation's in front: acme-{name}."
        yield Problem("usage.plugin-name", message, hint=hint)


def write_project(project: Project, parent: Path) -> tuple[Path, tuple[str, ...]]:
    """Write all files of a project, or none.

    Args:
        project: what to write.
        parent: folder in which the project's own folder is made.

    Returns:
        The project's folder, and the paths of its files relative to that, sorted.

    Raises:
        UsageError: the parent is no folder, the project's folder exists, or it cannot be written.
    """
    folder = parent / project.distribution
    if not parent.is_dir():
        hint = "Make it first, or leave --dir out."
        raise UsageError(Problem("usage.no-such-path", f"{str(parent)!r} is no folder", hint=hint))
    if folder.exists() or folder.is_symlink():
        hint = "Nothing is ever overwritten: choose another name or another --dir, or remove it."
        raise UsageError(Problem("usage.exists", f"{str(folder)!r} exists", hint=hint))
    files = dict(project.files())
    unfinished = parent / f".{project.distribution}.{token_hex(8)}"
    try:
        try:
            for place, content in files.items():
                path = unfinished / place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8", newline="\n")
                if content.startswith(_PROGRAM):
                    mode = path.stat().st_mode
                    path.chmod(mode | (mode & 0o444) >> 2)  # for whoever may read it
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except OSError as error:
        message = f"cannot write {str(folder)!r}: {error.strerror or error}"
        raise UsageError(Problem("usage.unwritable", message, hint="Choose another place with --dir.")) from None
    return folder, tuple(sorted(files))
