"""What commands that show a run have in common."""

from .delivery import OWN_DOCUMENT, Delivered, deliver, reporter_for
from .showing import RunDocument, run_document, run_verdict, show_run
from .wording import LINE, counted, duration, moment, percent, plain, reason

__all__ = [
    "LINE",
    "OWN_DOCUMENT",
    "Delivered",
    "RunDocument",
    "counted",
    "deliver",
    "duration",
    "moment",
    "percent",
    "plain",
    "reason",
    "reporter_for",
    "run_document",
    "run_verdict",
    "show_run",
]
