"""Where configuration is read from: files, and whose word each of them is.

What a user types, his environment and his own file are his. A file that lies in the current folder is the folder's: it
may choose among what is harmless, and the rest of it counts once the user has trusted its content (`trusting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ..errors import Origin, Problem, SourceSpan, SuiteError, UsageError
from .configuration import Config, Held, Key, Source, check_value, from_environment, keys_with
from .trusting import is_harmless

PROJECT_FILE = "skillgauge.config.yaml"
MAX_BYTES = 4 * 1024 * 1024

Trusts = Callable[[Path, str], bool]
"""Whether the user trusts a file with a text."""


class OtherPrograms(NamedTuple):
    """What installed plugins announce of other programs' configuration."""

    files: Sequence[str] = ()
    """Names of files, read where ours is absent: in the folder, or below the home folder if they begin with `~/`."""
    spellings: Mapping[str, str] = MappingProxyType({})
    """Keys as these programs spell them, each with the one of ours that it means."""


NO_OTHERS = OtherPrograms()


def _nobody(_path: Path, _text: str) -> bool:
    return False


def load_config(
    *,
    cwd: Path,
    flags: Mapping[str, Any],
    environ: Mapping[str, str],
    explicit: Path | None = None,
    user_file: Path | None = None,
    others: OtherPrograms = NO_OTHERS,
    trusts: Trusts = _nobody,
) -> Config:
    """Collect the layers.

    Args:
        cwd: folder searched for the project file.
        flags: values given on the command line, unset ones absent.
        environ: environment variables.
        explicit: the file named by `--config`; it takes the place of the project file, and is the user's word.
        user_file: the user's own file; default below the home folder.
        others: what is known of other programs' configuration.
        trusts: whether the user trusts a file of the folder.

    Raises:
        UsageError: a file cannot be read or holds an unknown key or a value of the wrong type; all of them.
    """
    problems: list[Problem] = []
    keys = keys_with(others.spellings)
    layers: list[tuple[Source, str, Mapping[str, Any]]] = [(Source.FLAG, "command line", dict(flags))]
    layers.append((Source.ENVIRONMENT, "environment", from_environment(environ, keys, problems)))
    if explicit is not None and not explicit.is_file():
        problems.append(Problem("config.missing", f"configuration file {str(explicit)!r} does not exist"))
    notices: list[str] = []
    held: list[Held] = []
    home = environ.get("HOME") or environ.get("USERPROFILE")
    for source, path, theirs in (
        (Source.PROJECT, explicit or _project_file(cwd), () if explicit else _foreign_files(others.files, "", cwd)),
        (Source.USER, user_file or user_path(environ), _foreign_files(others.files, "~/", Path(home)) if home else ()),
    ):
        reader = _Reader(keys, problems, notices)
        for one in reader.read(path, theirs):
            values = one.values
            if source is Source.PROJECT and not explicit and not trusts(one.path, one.text):
                values = {key: value for key, value in values.items() if is_harmless(keys, key, value, cwd)}
                before = {key for _, _, stronger in layers for key in stronger}
                kept_back = one.values.keys() - values.keys() - before
                held += [Held(key, one.values[key], str(one.path), one.places[key]) for key in sorted(kept_back)]
            layers.append((source, str(one.path), values))
    if problems:
        raise UsageError(problems)
    return Config(layers, notices, keys, held)


def project_files(cwd: Path, foreign: Sequence[str]) -> tuple[Path, ...]:
    """The files that would configure a folder: its own, else those of other programs."""
    own = _project_file(cwd)
    if own is None or own.suffix == ".toml":
        others = _foreign_files(foreign, "", cwd)
        return (*others, *((own,) if own else ()))
    return (own,)


def user_path(environ: Mapping[str, str]) -> Path | None:
    """The user's own configuration file, whether it exists or not; `None` without a home."""
    base = environ.get("XDG_CONFIG_HOME")
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if base:
        return Path(base) / "skillgauge" / "config.yaml"
    return Path(home) / ".config" / "skillgauge" / "config.yaml" if home else None


def _project_file(cwd: Path) -> Path | None:
    path = cwd / PROJECT_FILE
    if path.is_file():
        return path
    pyproject = cwd / "pyproject.toml"
    return pyproject if pyproject.is_file() else None


def _foreign_files(names: Sequence[str], prefix: str, folder: Path) -> tuple[Path, ...]:
    """Those of the other programs' files that are there and belong to this folder."""
    here = (name.removeprefix(prefix) for name in names if name.startswith("~/") == bool(prefix))
    return tuple(path for name in here if (path := folder / name).is_file())


@dataclass(frozen=True)
class _File:
    """What a file sets."""

    path: Path
    text: str
    """All of it, in the state in which it was read."""
    values: Mapping[str, Any]
    places: Mapping[str, tuple[str, ...]]
    """The keys that lead to each value in the document."""


class _Reader:
    """Reads the files of one layer.

    Args:
        keys: all that may be set.
        problems: grows by what is wrong.
        notices: grows by what the user should know.
    """

    def __init__(self, keys: Mapping[str, Key], problems: list[Problem], notices: list[str]) -> None:
        self._keys, self._problems, self._notices = keys, problems, notices

    def read(self, path: Path | None, others: Sequence[Path]) -> Iterator[_File]:
        """Our own file, else other programs'."""
        if path is not None and path.is_file():
            found = self._file(path, self._problems)
            if found:
                yield found
            if (found and found.values) or path.suffix != ".toml":
                return  # else it is a pyproject.toml that says nothing about skillgauge
        for other in others:
            yield from self._foreign(other)

    def _foreign(self, path: Path) -> Iterator[_File]:
        """What another program's file sets; keys that mean nothing here are only mentioned."""
        found: list[Problem] = []
        file = self._file(path, found)
        unknown = [problem for problem in found if problem.code == "config.unknown-key"]
        self._problems.extend(problem for problem in found if problem.code != "config.unknown-key")
        self._notices.append(f"configuration is read from {path}, because skillgauge has no file of its own beside it")
        self._notices.extend(f"{path}: {problem.message}; it is ignored" for problem in unknown)
        if file:
            yield file

    def _file(self, path: Path, problems: list[Problem]) -> _File | None:
        from .documents import locate, parse_document  # noqa: PLC0415 - slow, and needless without a file

        try:
            text = text_of(path)
            if path.suffix == ".toml":
                tree: object = _table(text, path)
            else:
                kind = "yaml" if path.suffix.lower() in (".yaml", ".yml") else "json"
                tree = parse_document(text, file=str(path), kind=kind).value or {}  # type: ignore[arg-type]  # one of two
        except SuiteError as error:
            problems.extend(error.problems)
            return None
        if not isinstance(tree, Mapping):
            what = (
                "[tool.skillgauge] must be a table" if path.suffix == ".toml" else "must be a mapping of keys to values"
            )
            problems.append(Problem("config.shape", what, origin=Origin(str(path))))
            return None
        found: list[Problem] = []
        file = self._checked(tree, path, text, found)
        is_toml = path.suffix == ".toml"
        problems.extend(one.at(locate(one.origin)) if one.origin and not is_toml else one for one in found)
        return file

    def _checked(self, tree: Mapping[str, Any], path: Path, text: str, problems: list[Problem]) -> _File:
        values: dict[str, Any] = {}
        places: dict[str, tuple[str, ...]] = {}
        for pointer, name, value in _flatten(tree, self._keys):
            problem = check_value(name, value, self._keys)
            if problem is None:
                values[name], places[name] = list(value) if isinstance(value, tuple) else value, pointer
            else:
                origin = Origin(str(path), pointer)
                problems.append(Problem(problem.code, problem.message, origin=origin, hint=problem.hint))
        return _File(path, text, values, places)


def text_of(path: Path) -> str:
    """The text of a configuration file.

    Raises:
        SuiteError: it cannot be read, is too large, or is no text.
    """
    from skillgauge_documents import DocumentError, read_text  # noqa: PLC0415 - slow, and needless without a file

    try:
        return read_text(path, MAX_BYTES)
    except DocumentError as error:
        raise SuiteError(
            Problem(
                f"document.{one.code}", one.message, span=SourceSpan(str(path), one.line, one.column), hint=one.hint
            )
            for one in error.faults
        ) from None


def _table(text: str, path: Path) -> object:
    """`[tool.skillgauge]` of a pyproject.toml; an empty one if it has none."""
    import tomllib  # noqa: PLC0415 - needless without a pyproject.toml

    try:
        table: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(Problem("config.syntax", str(error), origin=Origin(str(path)))) from None
    for name in ("tool", "skillgauge"):
        table = table.get(name, {}) if isinstance(table, dict) else table
    return table


def _flatten(
    tree: Mapping[str, Any], keys: Mapping[str, Key], pointer: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    for key, value in tree.items():
        here = (*pointer, key)
        name = ".".join(here)
        nested = isinstance(value, Mapping) and name not in keys
        if nested and not (here[0] == "plugins" and len(here) >= 4):
            yield from _flatten(value, keys, here)
        else:
            yield here, name, value
