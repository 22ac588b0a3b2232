"""An execution that came to its end and is not graded yet, as it is kept in case its process dies over the grading."""

from typing import Literal

from pydantic import Field

from skillgauge_documents.frozen import EMPTY, Frozen, JsonObject

from .score import Score
from .signature import Signature
from .trial import Execution


class KeptFile(Frozen):
    """A file, a link or a folder of a workspace."""

    path: str
    """Relative to the workspace root, with forward slashes; `.` is the root."""
    kind: Literal["file", "link", "folder"] = "file"
    sha256: str = ""
    """Of a file's content, under which `KeptExecution.contents` has it."""
    target: str = ""
    """The path that a link leads to."""
    mode: int = Field(ge=0, le=0o7777)
    mtime: int = 0
    """Whole seconds since the epoch."""


class KeptExecution(Frozen):
    """The deeds of an agent in a trial, and the workspace that it left for the graders."""

    trial_id: str
    ordinal: int
    """Position of the trial in the plan."""
    execution_id: str
    """Of the trial; for another one it is of no use."""
    execution: Execution
    scores: tuple[Score, ...] = ()
    """Of required checks that were asked for while the session went on."""
    started_at: float
    """Seconds since the epoch at which its attempt began; tells it from other attempts of the trial."""
    judges: int = Field(default=0, ge=0)
    """Calls of judges, the simulated user's among them, that were part of the execution."""
    attempt: int = Field(default=0, ge=0)
    """Its place among the attempts of the trial that used something, all claims together; the ledger fills it in."""
    places: tuple[str, str]
    """Root and home of the workspace, as its processes saw them: another workspace has others. Empty if it had none."""
    workspace: str
    """Digest of what the sandbox said the workspace held."""
    files: tuple[KeptFile, ...] = ()
    contents: JsonObject = EMPTY
    """The contents of files, as base64, by their SHA-256: each once."""
    signature: Signature = ""
    """Of the run's signer; a store keeps it as it is."""
