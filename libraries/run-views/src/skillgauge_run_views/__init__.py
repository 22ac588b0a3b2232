"""What commands that show a run have in common."""

from .delivery import OWN_DOCUMENT, Delivered, deliver, reporter_for
from .showing import RunDocument, run_document, run_verdict, show_run
from .stored import LATEST, find_run, opened, place, reports

__all__ = [
    "LATEST",
    "OWN_DOCUMENT",
    "Delivered",
    "RunDocument",
    "deliver",
    "find_run",
    "opened",
    "place",
    "reporter_for",
    "reports",
    "run_document",
    "run_verdict",
    "show_run",
]
