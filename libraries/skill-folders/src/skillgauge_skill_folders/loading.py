"""Recognise and load the files of a format that has a suite in each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from skillgauge.api import JsonValue, Loaded, LoadRequest, Problem, Suite, SuiteError, read_document


def object_in(path: Path, names: Collection[str]) -> Mapping[str, JsonValue] | None:
    """Return the object by which a format recognises its own file; never raises.

    Args:
        path: anything that a format is asked about.
        names: what its files are called.

    Returns:
        The object in the file; `None` for any other name, for what cannot be read and for what is no object.
    """
    if path.name not in names:
        return None
    try:
        value = read_document(path).value
    except SuiteError:
        return None
    return value if isinstance(value, Mapping) else None


def load_each(request: LoadRequest, names: Iterable[str], suite_of: Callable[[Path], Suite]) -> Loaded:
    """The suite of each file, each file once however often it is named.

    Args:
        request: files, or folders that hold one of them.
        names: what such a file is called in a folder, the preferred name first.
        suite_of: reads a file; raises `SuiteError` with everything that is wrong with it.

    Returns:
        The suites; bad files that were only found by searching are told beside them.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    names = tuple(names)
    files: set[Path] = set()
    suites: list[Suite] = []
    fatal: list[Problem] = []
    passed_over: list[Problem] = []
    for paths, problems in ((request.paths, fatal), (request.searched, passed_over)):
        for path in map(Path, paths):
            file = next((path / name for name in names if (path / name).is_file()), path)
            if (place := file.resolve()) in files:
                continue
            files.add(place)
            try:
                suites.append(suite_of(file))
            except SuiteError as error:
                problems += error.problems
    if fatal:
        raise SuiteError([*fatal, *passed_over])
    return Loaded(tuple(suites), tuple(passed_over))
