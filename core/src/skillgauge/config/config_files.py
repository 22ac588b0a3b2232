"""The files from which configuration is read, and how far each of them is trusted.

What a user types, his environment and his own file are his. A file that lies in the current folder is the folder's: it
may choose among what is harmless, and the rest of it counts once the user has trusted its content (`trusting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from skillgauge_documents.immutables import immutable

from ..errors import Origin, Problem, SuiteError, UsageError
from .configuration import Config, Held, Key, Source, check_value, from_environment, keys_with
from .trusting import is_harmless

PROJECT_FILE = "skillgauge.config.yaml"
MAX_BYTES = 4 * 1024 * 1024

Trusts = Callable[[Path, str], bool]
"""Whether the user trusts a file with a text."""
_Layer = tuple[Source, str, Mapping[str, Any]]
"""Where values come from, its name for people, and the values."""


class OtherPrograms(NamedTuple):
    """The announcements of installed plugins about other programs' configuration."""

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
    layers: list[_Layer] = [(Source.FLAG, "command line", dict(flags))]
    layers.append((Source.ENVIRONMENT, "environment", from_environment(environ, keys, problems)))
    notices: list[str] = []
    held: list[Held] = []
    reader = _Reader(keys, problems, notices)
    if explicit is not None:
        if not explicit.is_file():
            problems.append(Problem("config.missing", f"configuration file {str(explicit)!r} does not exist"))
        layers += [(Source.PROJECT, str(file.path), file.values) for file in reader.read(explicit, ())]
    else:
        for file in reader.read(_project_file(cwd), _foreign_files(others.files, "", cwd)):
            values = file.values if trusts(file.path, file.text) else _harmless_values(file, keys, cwd)
            held += _held_back(file, values, layers)
            layers.append((Source.PROJECT, str(file.path), values))
    home = _home(environ)
    of_others = _foreign_files(others.files, "~/", Path(home)) if home else ()
    user_files = reader.read(user_file or user_path(environ), of_others)
    layers += [(Source.USER, str(file.path), file.values) for file in user_files]
    UsageError.raise_for(problems)
    return Config(layers, notices, keys, held)


def _harmless_values(file: _File, keys: Mapping[str, Key], folder: Path) -> dict[str, Any]:
    """Return what a file that the user does not trust may set."""
    return {key: value for key, value in file.values.items() if is_harmless(keys, key, value, folder)}


def _held_back(file: _File, values: Mapping[str, Any], stronger: Sequence[_Layer]) -> list[Held]:
    """Return what a file sets and is not among its values that count, unless a stronger layer sets it anyway."""
    set_before = {key for _, _, layer in stronger for key in layer}
    kept_back = file.values.keys() - values.keys() - set_before
    return [Held(key, file.values[key], str(file.path), file.places[key]) for key in sorted(kept_back)]


def _home(environ: Mapping[str, str]) -> str | None:
    return environ.get("HOME") or environ.get("USERPROFILE")


def project_files(cwd: Path, foreign: Sequence[str]) -> tuple[Path, ...]:
    """The files that would configure a folder: its own, else those of other programs."""
    own = _project_file(cwd)
    if own is None:
        return _foreign_files(foreign, "", cwd)
    if own.suffix == ".toml":
        return (*_foreign_files(foreign, "", cwd), own)
    return (own,)


def user_path(environ: Mapping[str, str]) -> Path | None:
    """The user's own configuration file, whether it exists or not; `None` without a home."""
    base = environ.get("XDG_CONFIG_HOME")
    home = _home(environ)
    if base:
        return Path(base) / "skillgauge" / "config.yaml"
    if home:
        return Path(home) / ".config" / "skillgauge" / "config.yaml"
    return None


def _project_file(cwd: Path) -> Path | None:
    return next(filter(Path.is_file, (cwd / PROJECT_FILE, cwd / "pyproject.toml")), None)


def _foreign_files(names: Sequence[str], prefix: str, folder: Path) -> tuple[Path, ...]:
    """Those of the other programs' files that are there and belong to this folder."""
    paths = [folder / name.removeprefix(prefix) for name in names if name.startswith("~/") == bool(prefix)]
    return tuple(path for path in paths if path.is_file())


@immutable
class _File:
    """The values that a file sets."""

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
            own = self._file(path, self._problems)
            if own:
                yield own
            if path.suffix != ".toml" or (own and own.values):
                return  # else it is a pyproject.toml that says nothing about skillgauge
        for program in others:
            yield from self._foreign(program)

    def _foreign(self, path: Path) -> Iterator[_File]:
        """Yield what another program's file sets; keys that mean nothing here are only mentioned."""
        problems: list[Problem] = []
        file = self._file(path, problems)
        self._notices.append(f"configuration is read from {path}, because skillgauge has no file of its own beside it")
        for problem in problems:
            if problem.code == "config.unknown-key":
                self._notices.append(f"{path}: {problem.message}; it is ignored")
            else:
                self._problems.append(problem)
        if file:
            yield file

    def _file(self, path: Path, problems: list[Problem]) -> _File | None:
        format_of_file = _FORMATS.get(path.suffix, _TREE)
        try:
            text = text_of(path)
            tree = format_of_file.parse(text, path)
        except SuiteError as error:
            problems.extend(error.problems)
            return None
        if not isinstance(tree, Mapping):
            problems.append(Problem("config.shape", format_of_file.demand, origin=Origin(str(path))))
            return None
        faults: list[Problem] = []
        file = self._checked(tree, path, text, faults)
        problems.extend(format_of_file.placed(faults))
        return file

    def _checked(self, tree: Mapping[str, Any], path: Path, text: str, problems: list[Problem]) -> _File:
        values: dict[str, Any] = {}
        places: dict[str, tuple[str, ...]] = {}
        for pointer, name, value in _flatten(tree, self._keys):
            problem = check_value(name, value, self._keys)
            if problem is None:
                values[name] = list(value) if isinstance(value, tuple) else value
                places[name] = pointer
            else:
                problems.append(replace(problem, origin=Origin(str(path), pointer)))
        return _File(path, text, values, places)


def _document(text: str, path: Path) -> object:
    from .documents import parse_document  # noqa: PLC0415 - slow, and needless without a file

    is_yaml = path.suffix.lower() in (".yaml", ".yml")
    return parse_document(text, file=str(path), kind="yaml" if is_yaml else "json").value or {}


def text_of(path: Path) -> str:
    """The text of a configuration file.

    Raises:
        SuiteError: it cannot be read, is too large, or is no text.
    """
    from skillgauge_documents import DocumentError, read_text  # noqa: PLC0415 - slow, and needless without a file

    try:
        return read_text(path, MAX_BYTES)
    except DocumentError as error:
        from .documents import document_problem  # noqa: PLC0415 - needless without a fault

        raise SuiteError(document_problem(fault, str(path)) for fault in error.faults) from None


def _table(text: str, path: Path) -> object:
    """`[tool.skillgauge]` of a pyproject.toml; an empty one if it has none."""
    import tomllib  # noqa: PLC0415 - needless without a pyproject.toml

    try:
        table: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(Problem("config.syntax", str(error), origin=Origin(str(path)))) from None
    for name in ("tool", "skillgauge"):
        if isinstance(table, dict):
            table = table.get(name, {})
    return table


def _placed(problems: Iterable[Problem]) -> Iterable[Problem]:
    """The problems with line and column."""
    from .documents import located_all  # noqa: PLC0415 - slow, and needless without a file

    return located_all(problems)


class _Format(NamedTuple):
    """The way in which files of a suffix are read."""

    parse: Callable[[str, Path], object]
    demand: str
    """The problem of a file that holds something else than keys and values."""
    placed: Callable[[Iterable[Problem]], Iterable[Problem]]
    """Adds line and column to problems, where these can be found."""


_TREE = _Format(_document, "must be a mapping of keys to values", _placed)
_FORMATS = {".toml": _Format(_table, "[tool.skillgauge] must be a table", tuple)}
"""By suffix; all others are read as `_TREE`."""


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
