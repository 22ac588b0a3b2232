"""Recognise packages by their manifest."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Claim

from .packages.manifests import MANIFESTS, manifest_of


def claim(path: Path) -> Claim | None:
    """Claim a folder with a manifest, or the manifest itself; never raises."""
    try:
        manifest = manifest_of(path) if path.is_dir() else path
        is_one = manifest is not None and manifest.name in MANIFESTS and manifest.is_file()
    except OSError:
        return None
    if manifest is None or not is_one:
        return None
    from .packages.package import skill_folders  # noqa: PLC0415 - slow, and most folders are no package

    return Claim("package", f"has {manifest.name}", leaves=skill_folders(manifest.parent))
