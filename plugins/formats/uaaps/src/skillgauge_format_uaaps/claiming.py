"""Recognise packages by their manifest."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Claim

MANIFESTS = ("package.agent.json", "package.agent.yaml")
"""Of a package that has both the first counts."""


def manifest_of(folder: Path) -> Path | None:
    """The manifest of a folder; of two the one that counts."""
    return next((folder / name for name in MANIFESTS if (folder / name).is_file()), None)


def claim(path: Path) -> Claim | None:
    """What a path is to this format: a folder with a manifest, or the manifest; never raises."""
    try:
        manifest = manifest_of(path) if path.is_dir() else path
        is_one = manifest is not None and manifest.name in MANIFESTS and manifest.is_file()
    except OSError:
        return None
    if manifest is None or not is_one:
        return None
    from .package import skill_folders  # noqa: PLC0415 - slow, and most folders are no package

    return Claim("package", f"has {manifest.name}", leaves=skill_folders(manifest.parent))
