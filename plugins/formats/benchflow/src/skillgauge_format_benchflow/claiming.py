"""Recognise suites of BenchFlow by what stands in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import Claim, SuiteError, read_document
from skillgauge_skill_folders import SKILL_FILE

EVALS_FOLDER, EVALS_FILE = "evals", "evals.json"
MAX_BYTES = 8 * 1024 * 1024
_MARKS = (b'"question"', b'"ground_truth"', b'"expected_behavior"')
_CASES = b'"cases"'


def claim(path: Path) -> Claim | None:
    """Claim a path for this format; never raises."""
    try:
        if path.is_dir():
            return _claim_folder(path)
        return _claim_file(path)
    except (OSError, ValueError, RecursionError):
        return None


def _claim_folder(path: Path) -> Claim | None:
    """A skill whose only suite is this format's. Where there are others, each file is somebody's by itself."""
    own = path / EVALS_FOLDER / EVALS_FILE
    if not (path / SKILL_FILE).is_file() or not own.is_file():
        return None
    others = [one for folder in (path, own.parent) for one in folder.iterdir() if _could_be_suite(one) and one != own]
    if others or (claimed := _claim_file(own)) is None:
        return None
    return Claim("skill", f"a skill with {EVALS_FOLDER}/{EVALS_FILE}: {claimed.reason}")


def _could_be_suite(path: Path) -> bool:
    return path.suffix in (".json", ".jsonl", ".yaml", ".yml") and path.is_file()


def _claim_file(path: Path) -> Claim | None:
    if not _may_hold_cases(path):
        return None
    try:
        value = read_document(path, max_bytes=MAX_BYTES).value
    except SuiteError:
        return _claim_by_name(path)
    if not isinstance(value, Mapping) or not _asks_questions(value):
        return None
    return Claim("cases", f"{path.name} is an object with `cases` that ask a `question`")


def _may_hold_cases(path: Path) -> bool:
    """Look for the words of a suite without parsing: most files are none, and are passed over quickly."""
    if path.suffix != ".json" or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return False
    data = path.read_bytes()
    return _CASES in data and any(mark in data for mark in _MARKS)


def _claim_by_name(path: Path) -> Claim | None:
    """Claim a damaged file where this format keeps its own, so that its user hears of the damage."""
    if path.name != EVALS_FILE or path.parent.name != EVALS_FOLDER:
        return None
    return Claim("cases", f"named {path.name}, but cannot be read")


def _asks_questions(document: Mapping[str, object]) -> bool:
    if "evals" in document or "cases" not in document:
        return False
    cases = document["cases"]
    items = cases if isinstance(cases, tuple) else (cases,)
    return any(isinstance(item, Mapping) and _is_case(item) for item in items)


def _is_case(item: Mapping[str, object]) -> bool:
    return any(mark.decode().strip('"') in item for mark in _MARKS)
