"""Find what is installed, without importing any of it.

Every start of the command line needs this, so it stands on the standard library alone and reads one JSON file
when nothing has changed. stevedore's and importlib's own caches do not serve: the first can be stale and forgets who
installed a plugin, the second costs more to import than everything here.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import astuple
from functools import cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

from .._version import __version__
from ..environment import host_environment
from .index import CORE, PREFIX, IndexEntry, PluginIndex, normalized

if TYPE_CHECKING:
    from importlib.metadata import Distribution
    from pathlib import Path

RACY_NS = 2_000_000_000
"""A file changed this recently may change again under the same time stamp, so nothing is cached yet."""

known: ContextVar[dict[tuple[str, ...], PluginIndex] | None] = ContextVar("known", default=None)
"""What a command has read already; it asks several times. Outside of one, nothing is remembered."""

_FIELD = r"^(name|version|summary|requires-dist):(.*)$"


def read_index(*, path: Sequence[str] | None = None, cache_dir: Path | None = None) -> PluginIndex:
    """The index of everything installed, from the cache if nothing has changed since it was written.

    Args:
        path: folders to search, as in `sys.path`, which is the default.
        cache_dir: default: `$XDG_CACHE_HOME/skillgauge` or `~/.cache/skillgauge`. If it cannot be used, the answer
            is the same and takes longer.
    """
    remembered = known.get()
    if remembered is None or path is not None or cache_dir:
        return _read_index(sys.path if path is None else path, cache_dir)
    search_path = tuple(sys.path)
    if search_path not in remembered:
        remembered[search_path] = _read_index(search_path, None)
    return remembered[search_path]


def _read_index(path: Sequence[str], cache_dir: Path | None) -> PluginIndex:
    now = time.time_ns()
    marks = list(_marks(path))
    places = [place for place, _ in marks]
    folder = os.fspath(cache_dir) if cache_dir else _default_cache_dir()
    # Folders without distributions do not count: `python -m` puts every working directory on the path.
    stamp = f"{sys.implementation.cache_tag}-{crc32(ascii(places).encode()):08x}.json"
    key = [__version__, marks]
    cache = folder and f"{folder}/index-{stamp}"
    entries = _cached(cache, key)
    if entries is None:
        entries = _installed(places)
        if _is_settled(marks, now):
            _write_json(cache, {"key": key, "entries": [astuple(entry) for entry in entries]})
    return PluginIndex(entries, failures=_Failures(folder and f"{folder}/failures-{stamp}", entries))


def _cached(file: str | None, key: list[Any]) -> list[IndexEntry] | None:
    """Return the entries that were stored under a key; `None` if nothing usable was."""
    stored = _read_json(file)
    if stored.get("key") != key:
        return None
    try:
        return [IndexEntry(*row) for row in stored["entries"]]
    except (KeyError, TypeError):
        return None


def _is_settled(marks: Sequence[list[Any]], now: int) -> bool:
    """Check that nothing changed so recently that it may change again under the same time stamp."""
    times = (number for _, found in marks for mark in found for number in mark if isinstance(number, int))
    return all(abs(now - time_ns) > RACY_NS for time_ns in times)


class _Failures(MutableMapping[str, str]):
    """Failures of what is installed, in a file that every process reads anew; without a file, none."""

    def __init__(self, file: str | None, entries: Iterable[IndexEntry]) -> None:
        self._file, self._installed = file, {entry.failure_key for entry in entries}

    def _stored(self) -> dict[str, str]:
        return {key: text for key, text in _read_json(self._file).items() if key in self._installed}

    def __getitem__(self, key: str) -> str:
        return self._stored()[key]

    def __setitem__(self, key: str, text: str) -> None:
        _write_json(self._file, {**self._stored(), key: text})

    def __delitem__(self, key: str) -> None:
        failures = self._stored()
        del failures[key]
        _write_json(self._file, failures)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored())

    def __len__(self) -> int:
        return len(self._stored())


def _marks(path: Sequence[str]) -> Iterator[list[Any]]:
    """Each place that holds distributions, with facts that differ whenever one of them was touched."""
    for place in dict.fromkeys(path):
        try:
            with os.scandir(place or ".") as children:
                stamps = sorted(
                    [child.name, *_stamps(child.path)]
                    for child in children
                    if child.name.lower().endswith(("dist-info", "egg-info"))
                )
        except NotADirectoryError:
            stamps = [_stamps("", place)]  # an archive: importlib looks into those too
        except OSError:
            continue
        if stamps:
            yield [place, stamps]


def _stamps(folder: str, *names: str) -> list[Any]:
    stamps: list[Any] = []
    for name in names or ("entry_points.txt", "METADATA", "PKG-INFO"):
        try:
            status = os.stat(f"{folder}/{name}" if folder else name)  # noqa: PTH116 - hundreds at each start
        except OSError:
            if not stamps:
                break  # no entry points: whatever else is there says nothing to us
            continue
        stamps += [name, status.st_mtime_ns, status.st_size, status.st_ino]
        if name == "METADATA":
            break  # importlib.metadata looks at `PKG-INFO` only where this is absent
    return stamps


def _installed(path: list[str]) -> list[IndexEntry]:
    import importlib  # noqa: PLC0415 - together 30 ms, and only needed after something was installed
    import importlib.metadata  # noqa: PLC0415

    importlib.invalidate_caches()  # importlib.metadata believes a folder's time stamp for as long as it lives
    names = {""}  # a distribution without a name is a leftover of a failed installation
    entries: list[IndexEntry] = []
    for distribution in importlib.metadata.distributions(path=path):
        try:
            fields = _fields(distribution)
            name = normalized(fields.get("name", [""])[0])
            if name not in names:
                names.add(name)
                entries += _entries_of(distribution, fields)
        except (OSError, LookupError, TypeError, ValueError):
            continue  # another leftover, or a list of entry points that cannot be read
    return entries


def _fields(distribution: Distribution) -> dict[str, list[str]]:
    """The metadata that an index needs; `Distribution.metadata` parses the whole description, too, at each look."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or distribution.read_text("") or ""
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(_FIELD, text.partition("\n\n")[0], re.IGNORECASE | re.MULTILINE):
        fields.setdefault(name.lower(), []).append(value.strip())
    return fields


def _entries_of(distribution: Distribution, fields: Mapping[str, list[str]]) -> list[IndexEntry]:
    if f"[{PREFIX}" not in (distribution.read_text("entry_points.txt") or ""):
        return []
    requirements = fields.get("requires-dist") or distribution.requires or []
    of_core = (text for text in requirements if re.match(r"skillgauge[-_.]+core(?![-\w.])", text, re.IGNORECASE))
    core_range, problem = _core_range(tuple(of_core))
    return [
        IndexEntry(
            kind=point.group.removeprefix(PREFIX),
            name=point.name,
            module=point.value,
            distribution=fields["name"][0],
            version=fields["version"][0],
            summary=fields.get("summary", [""])[0],
            core_range=core_range,
            problem=problem,
        )
        for point in distribution.entry_points
        if point.group.startswith(PREFIX)
    ]


@cache
def _core_range(texts: tuple[str, ...]) -> tuple[str | None, str | None]:
    """Versions of the core that are asked for, and what is wrong if ours is none of them."""
    if not texts:
        return None, None
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - as in _installed
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415

    specifiers = SpecifierSet()
    try:
        for requirement in map(Requirement, texts):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                specifiers &= requirement.specifier
    except InvalidRequirement as error:
        return None, f"asks for {CORE} in a way that cannot be read: {error}".splitlines()[0]
    if specifiers.contains(__version__, prereleases=True):
        return str(specifiers) or None, None
    return str(specifiers), f"needs {CORE} {specifiers}, and this is {__version__}"


def _default_cache_dir() -> str | None:
    base = host_environment().get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117 - pathlib costs 3 ms; the standard says to ignore relative ones
        base = os.path.expanduser("~/.cache")  # noqa: PTH111 - as above
    return None if base.startswith("~") else f"{base}/skillgauge"


def _read_json(file: str | None) -> dict[str, Any]:
    """A file's object; an empty one if there is none or it is damaged."""
    with suppress(OSError, ValueError, RecursionError), open(file or "", encoding="utf-8") as stream:  # noqa: PTH123 - as above
        value = json.load(stream)
        if isinstance(value, dict):
            return value
    return {}


def _write_json(file: str | None, value: object) -> None:
    """Replace a file in one step, readable by its owner only; without a place to write, do nothing."""
    if file is None:
        return
    import tempfile  # noqa: PLC0415 - only needed when something has changed

    folder = file.rpartition("/")[0]
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
        number, temporary = tempfile.mkstemp(dir=folder)
    except OSError:
        return
    try:
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            json.dump(value, stream)
        os.replace(temporary, file)  # noqa: PTH105 - as above
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108 - as above
