"""The places in which a package may have its manifest."""

from __future__ import annotations

from pathlib import Path

MANIFESTS = ("package.agent.json", "package.agent.yaml")
"""Of a package that has both the first counts."""


def manifest_of(folder: Path) -> Path | None:
    """Return the manifest of a folder; of two the one that counts."""
    return next((folder / name for name in MANIFESTS if (folder / name).is_file()), None)
