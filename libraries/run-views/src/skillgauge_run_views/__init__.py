"""What commands that show a run have in common."""

from .delivery import OWN_DOCUMENT, Delivered, deliver, reporter_for
from .showing import RunDocument, run_document, run_verdict, show_run

__all__ = [
    "OWN_DOCUMENT",
    "Delivered",
    "RunDocument",
    "deliver",
    "reporter_for",
    "run_document",
    "run_verdict",
    "show_run",
]
