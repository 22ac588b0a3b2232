"""Recordings of agent sessions."""

from .baselines import Baseline, BaselineCache, baseline_key, baselines_in
from .cassettes import (
    LARGEST_FILE,
    SUFFIX,
    Cassette,
    RecordedFile,
    file_name,
    read_cassettes,
    why_missing,
)
from .places import Places
from .recorder import FolderRecorder
from .restoring import restore

__all__ = [
    "LARGEST_FILE",
    "SUFFIX",
    "Baseline",
    "BaselineCache",
    "Cassette",
    "FolderRecorder",
    "Places",
    "RecordedFile",
    "baseline_key",
    "baselines_in",
    "file_name",
    "read_cassettes",
    "restore",
    "why_missing",
]
