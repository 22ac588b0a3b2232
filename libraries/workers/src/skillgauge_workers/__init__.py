"""Worker processes of executors, and both ends of the connection to one."""

from .attempts import CANCEL_S, CLOSE_S, Attempts, Link, prepared
from .starting import WorkerProcess, start_worker
from .wire import Frame, Kind, packed, receive, send, unpacked

__all__ = [
    "CANCEL_S",
    "CLOSE_S",
    "Attempts",
    "Frame",
    "Kind",
    "Link",
    "WorkerProcess",
    "packed",
    "prepared",
    "receive",
    "send",
    "start_worker",
    "unpacked",
]
