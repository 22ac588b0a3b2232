"""Recognise packages with a manifest, whose tests and evals are files of their own format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import SuiteError, read_document

MANIFESTS = ("package.agent.json", "package.agent.yaml")
_CASES = "cases"
_AROUND_CASES = ("tests", "evals")
_YAML = (".yaml", ".yml")
_WHERE = tuple(
    f"{folder}/{_CASES}/*{suffix}" for folder in ("evals", "*/tests", "*/*/tests", "*/*/*/tests") for suffix in _YAML
)
"""Where a package has its cases; groups of artifacts may nest."""


def manifest_of(path: Path) -> Path | None:
    """The manifest of the package whose tests or evals a file belongs to; `None` if it is no such file.

    A package without tests and evals is of no interest: the skills in it may well have suites of another format.
    """
    if path.name in MANIFESTS:
        return path if path.is_file() and _has_tests(path) else None
    if path.suffix not in _YAML or path.parent.name != _CASES or path.parent.parent.name not in _AROUND_CASES:
        return None
    manifests = (folder / name for folder in path.absolute().parents[2:] for name in MANIFESTS)
    return next((manifest for manifest in manifests if manifest.is_file()), None)


def _has_tests(manifest: Path) -> bool:
    if any(True for pattern in _WHERE for _ in manifest.parent.glob(pattern)):
        return True
    try:
        value = read_document(manifest).value
    except SuiteError:
        return False
    return isinstance(value, Mapping) and bool(value.get("quality"))
