"""Recordings of agent sessions."""

from .cassettes import (
    LARGEST_FILE,
    SUFFIX,
    Cassette,
    FolderRecorder,
    RecordedFile,
    file_name,
    read_cassettes,
    why_missing,
)
from .places import Places

__all__ = [
    "LARGEST_FILE",
    "SUFFIX",
    "Cassette",
    "FolderRecorder",
    "Places",
    "RecordedFile",
    "file_name",
    "read_cassettes",
    "why_missing",
]
