"""Run processes on this machine, in workspaces made of folders: what sandboxes have in common."""

from . import disk, held
from ._belongings import Belongings, belongings, release, temporary_folder
from ._left import obstacles
from .concealing import conceal
from .disk import DiskLimit
from .running import MARKER, Process, start, stop_all
from .starting import Started, Starter, SupervisorLostError
from .workspace import DirectoryWorkspace, Launch

__all__ = [
    "MARKER",
    "Belongings",
    "DirectoryWorkspace",
    "DiskLimit",
    "Launch",
    "Process",
    "Started",
    "Starter",
    "SupervisorLostError",
    "belongings",
    "conceal",
    "disk",
    "held",
    "obstacles",
    "release",
    "start",
    "stop_all",
    "temporary_folder",
]
