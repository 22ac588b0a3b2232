"""Recordings of agent sessions."""

from .baselines import BaselineCache, baseline_key, baselines_in
from .cassettes import (
    LARGEST_FILE,
    SUFFIX,
    Cassette,
    RecordedFile,
    file_name,
    read_cassette,
    read_cassettes,
    why_missing,
)
from .folders import KeptSession, recordings_in
from .places import Places
from .recorder import FolderRecorder
from .restoring import restore

__all__ = [
    "LARGEST_FILE",
    "SUFFIX",
    "BaselineCache",
    "Cassette",
    "FolderRecorder",
    "KeptSession",
    "Places",
    "RecordedFile",
    "baseline_key",
    "baselines_in",
    "file_name",
    "read_cassette",
    "read_cassettes",
    "recordings_in",
    "restore",
    "why_missing",
]
