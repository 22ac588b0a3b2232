"""Run processes on this machine, in workspaces made of folders: what sandboxes have in common."""

from .concealing import conceal
from .running import MARKER, Process, start, stop_all
from .workspace import DirectoryWorkspace, Launch

__all__ = ["MARKER", "DirectoryWorkspace", "Launch", "Process", "conceal", "start", "stop_all"]
