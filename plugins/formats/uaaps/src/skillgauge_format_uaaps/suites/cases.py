"""The places of cases, and the parts that all of them share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from skillgauge.api import Document, Origin

from ..files.parts import OpenPart
from ..findings import Findings

M = TypeVar("M", bound=OpenPart)
SUFFIXES = (".yaml", ".yml", ".json")


def case_files(folder: Path) -> list[Path]:
    """The files of a folder of cases, in order."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and not path.name.startswith("."))


def read_cases(folder: Path, model: type[M], findings: Findings) -> Iterator[tuple[M, Document, Path]]:
    """Each case that can be read; what is wrong with the others is noted, and names that are there twice."""
    named: list[tuple[str, Origin]] = []
    for path in case_files(folder):
        file_model = findings.file(model, path)
        if file_model is None:
            continue
        case, document = file_model
        findings.unknown_keys(case, document)
        name = str(getattr(case, "name"))  # noqa: B009 - every model of a case has one
        if name.startswith("-") or name.endswith("-"):
            findings.warning("case-name", f"name {name!r} begins or ends with a hyphen", document.origin("name"))
        named.append((name, document.origin("name")))
        yield case, document, path
    findings.doubled(named, "case")
