"""Find the skills of a plugin, a marketplace or a repository, for suites that do not lie in a skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from skillgauge.api import JsonObject, JsonValue, SuiteError, host_environment, read_document

from .bundles import contained
from .skill_file import SKILL_FILE

PLUGIN, MARKETPLACE = ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"
USUAL = (
    "skills",
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".cursor/skills",
    ".github/skills",
    ".gemini/skills",
    ".opencode/skills",
)
"""Folders of skills, by convention."""
_AROUND = 5
"""Folders around a file in which skills are looked for."""
_UP = 12
"""Folders around a file in which its repository is looked for."""


def roots_around(path: Path) -> Iterator[tuple[Path, bool]]:
    """Folders around a file whose skills it may be about, the nearest first, up to its repository.

    With each comes whether skills may lie directly in it.
    """
    for folder in path.parents[:_AROUND]:
        is_repository = (folder / ".git").exists()
        holds_evals = folder == path.parent.parent and path.parent.name == "evals"
        yield folder, is_repository or holds_evals
        if is_repository:
            return


def folders_around(file: Path) -> Iterator[Path]:
    """Folders around a file that may be its repository, the nearest first.

    A home with dotfiles under version control is no repository of a suite that was put somewhere below it.
    """
    here = file.parent.absolute()
    home = Path(host_environment().get("HOME") or "/").absolute()
    yield from (folder for folder in (here, *here.parents[:_UP]) if not home.is_relative_to(folder))


def repository_around(file: Path) -> Path | None:
    """Root of the git repository that a file lies in; `None` outside of any."""
    return next((folder for folder in folders_around(file) if (folder / ".git").exists()), None)


def plugin_around(path: Path) -> str | None:
    """Name of the plugin that a path lies in: that of its manifest, else of its folder; `None` outside of plugins."""
    for folder in path.parents[:_AROUND]:
        if (folder / PLUGIN).is_file():
            name = _read(folder / PLUGIN).get("name")
            return name if isinstance(name, str) and name.strip() else folder.name
    return None


def skills_of(root: Path, *, inner: bool = False) -> tuple[Path, ...]:
    """Folders of the skills of a plugin or repository, each once, those of manifests first.

    Args:
        root: its folder.
        inner: folders directly in it may be skills, too.
    """
    places = [*_manifest_places(root), *(root / name for name in USUAL)]
    if inner:
        places.append(root)
    skills: dict[Path, Path] = {}
    for place in dict.fromkeys(places):
        for skill in _skills_in(place, of=root):
            skills.setdefault(skill.resolve(), skill)
    return tuple(skills.values())


def _skills_in(place: Path, *, of: Path) -> Iterator[Path]:
    """The skill that a folder is, or the skills directly in it."""
    if place != of and (place / SKILL_FILE).is_file():
        yield place
        return
    try:
        inner = sorted(place.iterdir())
    except OSError:
        return
    yield from (one for one in inner if (one / SKILL_FILE).is_file())


def _manifest_places(root: Path) -> Iterator[Path]:
    yield from _of_plugin(root)
    marketplace = _read(root / MARKETPLACE)
    metadata = marketplace.get("metadata")
    base = metadata.get("pluginRoot") if isinstance(metadata, Mapping) else None
    plugins = marketplace.get("plugins")
    for plugin in plugins if isinstance(plugins, tuple) else ():
        if not isinstance(plugin, Mapping) or not isinstance(source := plugin.get("source"), str):
            continue  # a plugin of another repository
        folders = [_inside(root, source)]
        if isinstance(base, str):
            folders.insert(0, _inside(root, f"{base}/{source}"))
        folder = next((one for one in folders if one is not None and one.is_dir()), None)
        if folder is None:
            continue
        yield from _all_inside(folder, _texts(plugin.get("skills")))
        yield from _of_plugin(folder)
        yield folder / USUAL[0]


def _of_plugin(root: Path) -> Iterator[Path]:
    yield from _all_inside(root, _texts(_read(root / PLUGIN).get("skills")))


def _all_inside(root: Path, written: Iterable[str]) -> Iterator[Path]:
    yield from (path for one in written if (path := _inside(root, one)) is not None)


def _inside(root: Path, written: str) -> Path | None:
    """Return the folder that a manifest names below its own, or its own folder; `None` for anything else."""
    return contained(root, written) if PurePosixPath(written).parts else root


def _texts(value: JsonValue) -> tuple[str, ...]:
    """Return the values that a manifest has as one text or a list of them."""
    items = (value,) if isinstance(value, str) else value
    return tuple(one for one in items if isinstance(one, str)) if isinstance(items, tuple) else ()


def _read(manifest: Path) -> JsonObject:
    """A manifest; one that is damaged names no skills, which are then found where they usually are."""
    try:
        value = read_document(manifest).value if manifest.is_file() else None
    except (OSError, SuiteError):
        return {}
    return value if isinstance(value, Mapping) else {}
