"""Recognise case folders by what lies in them, and find the plugin that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, parse_document
from skillgauge_skill_folders import SKILL_FILE, head_of, manifest_of, object_in

FORMAT = "plugin-eval"
PROMPT_FILE, CASE_FILE, GRADERS = "prompt.md", "case.yaml", "graders"
EVALS = "evals"
SKIPPED = frozenset({"node_modules", ".claude", ".git", "results", "mocks"})
"""Folders in which no case is looked for."""
_LEVELS = 16
_MARKS = frozenset({"max_turns", "timeout_seconds", "allowed_tools", "runs", "schema_version", "expected_outcome"})
"""Keys of a prompt's front matter that tell it from other files of that name."""


def claim(path: Path) -> Claim | None:
    """Claim a case folder, or one of its two files; never raises."""
    try:
        folder = path if path.is_dir() else path.parent
        if path != folder and path.name not in (PROMPT_FILE, CASE_FILE):
            return None
        return Claim(FORMAT, f"a case with {_marks(folder)}") if is_case(folder) else None
    except (OSError, ValueError, RecursionError):
        return None


def is_case(folder: Path) -> bool:
    """Tell whether a folder is a case of this format: below a folder of evals, with the marks of one."""
    return evals_around(folder) is not None and bool(_marks(folder))


def _marks(folder: Path) -> str:
    """Name what a case is recognised by; empty if there is nothing."""
    has_graders = (folder / GRADERS).is_dir()
    if (folder / PROMPT_FILE).is_file() and (has_graders or _MARKS & _front_matter(folder / PROMPT_FILE)):
        return f"{PROMPT_FILE} and {GRADERS}" if has_graders else PROMPT_FILE
    if (folder / CASE_FILE).is_file() and (has_graders or _is_case_file(folder / CASE_FILE)):
        return CASE_FILE
    return ""


def _front_matter(file: Path) -> set[str]:
    head = head_of(file)
    if not head:
        return set()
    try:
        value = parse_document(head, file=str(file), kind="yaml").value
    except SuiteError:
        return set()
    return set(value) if isinstance(value, Mapping) else set()


def _is_case_file(file: Path) -> bool:
    value = object_in(file, (CASE_FILE,))
    return value is not None and isinstance(value.get("execution"), Mapping) and ("graders" in value or "name" in value)


def evals_around(folder: Path) -> Path | None:
    """Return the folder of evals that a case lies in: the outermost below its plugin; `None` outside of any."""
    root = root_around(folder)
    if root is None:
        return None
    named = evals_folders(root)
    inner = folder.relative_to(root).parts
    for length in range(1, len(inner)):
        here = root.joinpath(*inner[:length])
        is_named = here in named if named else inner[length - 1] == EVALS
        if is_named and not SKIPPED & set(inner):
            return here
    return None


def root_around(folder: Path) -> Path | None:
    """Return the plugin around a folder; without one, the skill."""
    parents = [folder, *folder.parents][: _LEVELS + 1]
    plugin = next((one for one in parents if manifest_of(one) is not None), None)
    return plugin or next((one for one in parents[1:] if (one / SKILL_FILE).is_file()), None)


def evals_folders(root: Path) -> tuple[Path, ...]:
    """Return the folders that a manifest names in place of `evals`; empty if it names none."""
    manifest = manifest_of(root)
    value = object_in(manifest, (manifest.name,)) if manifest is not None else None
    experimental = value.get("experimental") if value is not None else None
    named = experimental.get("evals") if isinstance(experimental, Mapping) else None
    first = named[0] if isinstance(named, tuple) and named else named
    return (root / first,) if isinstance(first, str) and first.strip() else ()


def cases_below(folder: Path, levels: int = _LEVELS) -> Iterator[Path]:
    """Yield the case folders below a folder, in the order of their paths; nothing is looked for inside of a case."""
    if is_case(folder):
        yield folder
        return
    if not levels or not folder.is_dir():
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and inner.name not in SKIPPED:
            yield from cases_below(inner, levels - 1)
