"""Packages that a package depends on, as far as their skills go: found in a folder that the user names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from skillgauge.api import Json, Origin, did_you_mean

from ..files.manifest import PACKAGE_NAME
from .manifests import manifest_of
from .package import Artifact, Package, open_package

_RANGE = re.compile(r"(\^|~|>=|=?)v?(\d+)\.(\d+)\.(\d+)(-[\w.-]+)?")
_ANY = ("*", "", "latest")
Version = tuple[int, int, int]


def dependency_skills(package: Package, folder: Path | None) -> Iterator[tuple[Package, Artifact]]:
    """The skills of all packages that this one needs, and those need, each with its package.

    Args:
        package: gets every problem; nothing is fetched from anywhere.
        folder: where packages lie; `None` resolves nothing and says so.
    """
    owners = {skill.name: package.name for skill in package.skills}
    names, waiting = {package.name}, [package]
    while waiting:
        needing = waiting.pop(0)
        for name, range_value in needing.manifest.dependencies.items():
            origin = needing.document.origin("dependencies", name)
            if name in names:
                continue
            names.add(name)
            dependency = _resolve(package, name, range_value, origin, folder)
            if dependency is None:
                continue
            waiting.append(dependency)
            for skill in dependency.skills:
                if skill.name in owners:
                    message = f"skill {skill.name!r} is in {owners[skill.name]!r} and in {name!r}"
                    package.findings.error("duplicate-id", message, origin, "An agent finds a skill by its name.")
                    continue
                owners[skill.name] = name
                yield dependency, skill


def _resolve(package: Package, name: str, range_value: Json, origin: Origin, folder: Path | None) -> Package | None:
    """The package of a name; `None` after noting why there is none."""
    findings = package.findings
    if not re.fullmatch(PACKAGE_NAME, name):
        findings.error("value", f"{name!r} cannot be the name of a package", origin, "Write name or @scope/name.")
        return None
    if folder is None:
        message = f"package {name!r}, on which this one depends, is not resolved: its skills are not installed"
        findings.warning("dependency", message, origin, "Name a folder of packages: --set formats.uaaps.packages=DIR.")
        return None
    places = [folder / name, folder / name.rpartition("/")[2]]
    place = next((one for one in places if manifest_of(one)), None)
    if place is None:
        near = did_you_mean(name, [one.name for one in folder.iterdir()] if folder.is_dir() else [])
        message = f"package {name!r}, on which this one depends, is not in {str(folder)!r}{near}"
        findings.error("missing-dependency", message, origin, "Put it there.")
        return None
    dependency = open_package(place, findings, strict=package.strict)
    if dependency is None:
        return None
    if dependency.name != name:
        findings.error("missing-dependency", f"{str(place)!r} is package {dependency.name!r}, not {name!r}", origin)
        return None
    is_met = _fits(dependency.manifest.version, _range_of(range_value))
    if is_met is None:
        message = (
            f"range {_range_of(range_value)!r} is not understood: {dependency.manifest.version} of {name!r} is taken"
        )
        findings.warning("dependency", message, origin, "Write ^1.2.3, ~1.2.3, >=1.2.3, 1.2.3 or *.")
    elif not is_met:
        message = f"{name!r} is there as {dependency.manifest.version}, and {_range_of(range_value)} is wanted"
        findings.error("missing-dependency", message, origin, "Put another version there, or change the range.")
        return None
    return dependency


def _range_of(range_value: Json) -> str:
    """A text, or the key `version` of an object; anything else is no range."""
    if isinstance(range_value, Mapping):
        range_value = range_value.get("version", "*")
    return range_value.strip() if isinstance(range_value, str) else repr(range_value)


def _fits(version: str, range_text: str) -> bool | None:
    """Tell whether a version is in a range; `None` for a range that is not understood.

    >>> [_fits("1.4.2", one) for one in ("^1.2.0", "~1.2.0", ">=1.5.0", "1.4.2", "*", "1.x")]
    [True, False, False, True, True, None]
    >>> [_fits("0.3.1", one) for one in ("^0.3.0", "^0.2.9")]
    [True, False]
    """
    if range_text in _ANY:
        return True
    match = _RANGE.fullmatch(range_text)
    if match is None:
        return None
    have, least = _numbers(version), (int(match[2]), int(match[3]), int(match[4]))
    match match[1]:
        case "^":
            fixed = next((at for at, number in enumerate(least) if number), 2) + 1
            return have >= least and have[:fixed] == least[:fixed]
        case "~":
            return have >= least and have[:2] == least[:2]
        case ">=":
            return have >= least
    return have == least


def _numbers(version: str) -> Version:
    major, minor, patch = re.split(r"[-+]", version)[0].split(".")
    return int(major), int(minor), int(patch)
