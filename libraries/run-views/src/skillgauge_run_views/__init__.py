"""What commands that show a run have in common, and what a trial looks like in parts."""

from .delivery import OWN_DOCUMENT, Delivered, deliver, reporter_for
from .latency import latency_text
from .looking import CasesDocument, Wanted, show_cases
from .outcomes import outcome_text
from .showing import RunDocument, run_document, run_verdict, show_run
from .stored import LATEST, find_run, opened, place, reports
from .transcripts import CheckLine, Excerpt, Room, Step, Transcript, excerpt, transcript

__all__ = [
    "LATEST",
    "OWN_DOCUMENT",
    "CasesDocument",
    "CheckLine",
    "Delivered",
    "Excerpt",
    "Room",
    "RunDocument",
    "Step",
    "Transcript",
    "Wanted",
    "deliver",
    "excerpt",
    "find_run",
    "latency_text",
    "opened",
    "outcome_text",
    "place",
    "reporter_for",
    "reports",
    "run_document",
    "run_verdict",
    "show_cases",
    "show_run",
    "transcript",
]
