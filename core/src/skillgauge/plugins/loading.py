"""Import what announces a plugin: an entry point, through stevedore, or a single file."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from zlib import crc32

from stevedore.named import NamedExtensionManager

from .index import PREFIX, IndexEntry


class Loader(NamedExtensionManager[object]):
    """stevedore's loading by name, fed from our index; names carry their distribution and so cannot clash."""

    def __init__(self, entries: Iterable[IndexEntry], wanted: IndexEntry) -> None:
        group = PREFIX + wanted.kind
        self.errors: list[BaseException] = []  # all but SystemExit, AssertionError and KeyboardInterrupt
        self._points = [EntryPoint(entry.full_name, entry.module, group) for entry in entries]
        keep = lambda _manager, _point, error: self.errors.append(error)  # noqa: E731 - a def would need Any thrice
        super().__init__(group, [wanted.full_name], on_load_failure_callback=keep, on_missing_entrypoints_callback=None)

    def list_entry_points(self) -> list[EntryPoint]:
        """Return the entry points that stevedore chooses from."""
        return list(self._points)


def run_file(file: Path) -> tuple[str, ModuleType, str]:
    """Execute a file as a module of a name that nothing else has; its version is a digest of its content."""
    source = file.read_bytes()
    module = ModuleType(f"skillgauge_file_{crc32(ascii(file.resolve()).encode()):08x}_{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    try:
        exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module.__name__, module, f"sha256:{sha256(source).hexdigest()[:12]}"
