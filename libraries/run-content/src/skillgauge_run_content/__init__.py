"""The files of a run, named by their digests, so that a machine without them can fetch and lay them down."""

from .files import Files, TooMuchError
from .laying import LaidDown, lay_down
from .manifest import Entry, Manifest, WrongContentError
from .travelling import Content, ContentOfRun, laid_down

__all__ = [
    "Content",
    "ContentOfRun",
    "Entry",
    "Files",
    "LaidDown",
    "Manifest",
    "TooMuchError",
    "WrongContentError",
    "laid_down",
    "lay_down",
]
