"""Worker processes of executors, and both ends of the connection to one."""

from .admission import Admission, NotAdmittedError, Reason, name_here, none_admitted
from .attempts import CANCEL_S, CLOSE_S, Attempts, Link, prepared
from .offering import Offer, Serve
from .starting import WorkerProcess, start_worker
from .wire import Frame, Kind, packed, receive, send, unpacked

__all__ = [
    "CANCEL_S",
    "CLOSE_S",
    "Admission",
    "Attempts",
    "Frame",
    "Kind",
    "Link",
    "NotAdmittedError",
    "Offer",
    "Reason",
    "Serve",
    "WorkerProcess",
    "name_here",
    "none_admitted",
    "packed",
    "prepared",
    "receive",
    "send",
    "start_worker",
    "unpacked",
]
