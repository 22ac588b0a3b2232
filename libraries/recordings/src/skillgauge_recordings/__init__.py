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

__all__ = [
    "LARGEST_FILE",
    "SUFFIX",
    "Cassette",
    "FolderRecorder",
    "RecordedFile",
    "file_name",
    "read_cassettes",
    "why_missing",
]
