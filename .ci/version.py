"""Give the distributions a new version: `python .ci/version.py VERSION [NAME...]`.

Without names all of them get it, with the pages and the change log that name it. The bundle then asks for at least
these versions, so that an upgrade of it upgrades everything; all others keep asking for the minor version
(`>=0.1,<0.2`). With names only those distributions get it: a mended plugin is released alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from packaging.version import InvalidVersion, Version

from members import BUNDLE, ROOT, read

CORE = "skillgauge-core"
PROJECTS = ("pyproject.toml", "core/pyproject.toml", "libraries/*/pyproject.toml", "plugins/*/*/pyproject.toml")
NAMING = ("docs/*.md", "action/*.md", "CONTRIBUTING.md")
"""Pages that name the version of a release, as a tag."""
CONFORMANCE = "plugins/commands/conformance/CONFORMANCE.md"
_NAME = re.compile(r'^name = "([^"]+)"', re.MULTILINE)
_VERSION = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
_DUNDER = re.compile(r'^__version__ = "[^"]+"', re.MULTILINE)
_RANGE = re.compile(r'("skillgauge[a-z-]*(?:\[[a-z,]+\])?)>=[0-9][^,"]*,<[0-9][^",]*"')
_UNRELEASED = re.compile(r"^## .* \(unreleased\)$", re.MULTILINE)


class BadVersionError(Exception):
    """A version that cannot be given."""


def bump(root: Path, new: str, names: Collection[str] = ()) -> list[Path]:
    """Write a new version into the files of a working tree.

    Args:
        root: the tree.
        new: the version, such as `0.1.1`.
        names: the distributions that get it; none stands for all.

    Returns:
        The files that changed.

    Raises:
        BadVersionError: it is no version, is not above the present one of one of these, or a name is unknown.
    """
    projects = {_of(_NAME, path): path for pattern in PROJECTS for path in sorted(root.glob(pattern))}
    if unknown := sorted(set(names) - set(projects)):
        raise BadVersionError(f"there is no distribution {', '.join(unknown)}")
    try:
        version = Version(new)
    except InvalidVersion:
        raise BadVersionError(f"{new!r} is no version") from None
    chosen = {name: path for name, path in projects.items() if not names or name in names}
    for name, path in chosen.items():
        if version <= Version(old := _of(_VERSION, path)):
            raise BadVersionError(f"{name} has version {old}, and {new} is not above it")
    old = _of(_VERSION, projects[BUNDLE])
    changed = [*_rewrite(chosen.values(), lambda text: _VERSION.sub(f'version = "{new}"', text, count=1))]
    if CORE in chosen:
        dunder = root / "core/src/skillgauge/_version.py"
        changed += _rewrite([dunder], lambda text: _DUNDER.sub(f'__version__ = "{new}"', text, count=1))
    if not names:
        changed += _rewrite_all(root, projects, old, version)
    return sorted(set(changed))


def _rewrite_all(root: Path, projects: dict[str, Path], old: str, new: Version) -> list[Path]:
    """The ranges, the pages and the change log of a release of everything."""
    until = f"<{new.major}.{new.minor + 1}"
    others = [path for name, path in projects.items() if name != BUNDLE]
    changed = _rewrite(others, lambda text: _RANGE.sub(rf'\1>={new.major}.{new.minor},{until}"', text))
    changed += _rewrite([projects[BUNDLE]], lambda text: _RANGE.sub(rf'\1>={new},{until}"', text))
    pages = [path for pattern in NAMING for path in sorted(root.glob(pattern))]
    changed += _rewrite(pages, lambda text: text.replace(f"v{old}", f"v{new}"))
    if (page := root / CONFORMANCE).is_file():
        changed += _rewrite([page], lambda text: text.replace(f"skillgauge {old}", f"skillgauge {new}"))
    if (log := root / "CHANGELOG.md").is_file():
        changed += _rewrite([log], lambda text: _with_section(text, new))
    return changed


def _with_section(log: str, new: Version) -> str:
    """The change log with a section of the version that is not released yet, above those of earlier ones."""
    if f"## {new} " in log:
        return log
    place = re.search(r"^## ", log, re.MULTILINE)
    head = log[: place.start()] if place else log
    earlier = log[place.start() :] if place else ""
    released = _UNRELEASED.sub(lambda title: title.group().removesuffix(" (unreleased)"), earlier)
    return f"{head}## {new} (unreleased)\n\n{released}"


def _of(pattern: re.Pattern[str], path: Path) -> str:
    found = pattern.search(path.read_text("utf-8"))
    if found is None:
        raise BadVersionError(f"{path} has no line {pattern.pattern}")
    return found[1]


def _rewrite(paths: Collection[Path], change: Callable[[str], str]) -> list[Path]:
    """Change files; return those that are different afterwards."""
    changed = []
    for path in paths:
        before = path.read_text("utf-8")
        after = change(before)
        if after != before:
            path.write_text(after, "utf-8")
            changed.append(path)
    return changed


def main() -> int:
    """Change this working tree; say what was changed, or what is wrong."""
    if len(sys.argv) < 2:
        print(f"{__doc__}\nToday's version of {BUNDLE} is {read(ROOT).version}.")
        return 2
    try:
        changed = bump(ROOT, sys.argv[1], sys.argv[2:])
    except BadVersionError as error:
        print(error)
        return 1
    print(f"{len(changed)} files now say {sys.argv[1]}; next: fold changelog.d into CHANGELOG.md, and commit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
