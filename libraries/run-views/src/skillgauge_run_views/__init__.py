"""The parts that commands share which show a run, and the parts of a trial."""

from .delivery import OWN_DOCUMENT, STDOUT, Delivered, deliver, reporter_for
from .latency import latency_text
from .looking import CasesDocument, Wanted, show_cases
from .outcomes import outcome_text
from .showing import RunDocument, run_document, run_verdict, show_run
from .transcripts import CheckLine, Excerpt, Room, Step, Transcript, excerpt, transcript

__all__ = [
    "OWN_DOCUMENT",
    "STDOUT",
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
    "latency_text",
    "outcome_text",
    "reporter_for",
    "run_document",
    "run_verdict",
    "show_cases",
    "show_run",
    "transcript",
]
