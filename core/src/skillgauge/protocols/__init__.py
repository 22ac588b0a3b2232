"""What a plugin's objects must do, one small protocol per kind.

Hooks (`skillgauge.hooks`) only announce providers; behaviour lives here. Methods that do I/O are async. A
method that is given bad options or finds its surroundings unfit says so in `check`, before anything runs; during
a trial it returns facts and never raises for a failed execution. Values are the frozen ones of
`skillgauge.types`.
"""

from .announcing import Clean, Fact, NoOptions, Provider, Traits
from .executing import Adapter, CallRequest, Emit, Engine, InstalledSkill, Recorder, RunRequest, Session
from .formats import Artifact, Claim, Dumped, Loaded, LoadOption, LoadRequest, SuiteFormat
from .grading import Judge, JudgeReply, JudgeRequest, ScoreContext, Scorer
from .keeping import Archive, Claimed, Executor, Reporter, ResultOrder, Results, RunLog, RunQuery, RunTrial, Store
from .workspaces import (
    ALLOWED_ENV,
    Command,
    Finished,
    ModelRoute,
    Running,
    Sandbox,
    SandboxReport,
    SandboxSpec,
    Tier,
    Workspace,
)

# fmt: off
__all__ = [
    "ALLOWED_ENV", "Adapter", "Archive", "Artifact", "CallRequest", "Claim", "Claimed", "Clean", "Command",
    "Dumped", "Emit", "Engine", "Executor", "Fact", "Finished", "InstalledSkill", "Judge", "JudgeReply",
    "JudgeRequest", "LoadOption", "LoadRequest", "Loaded", "ModelRoute", "NoOptions", "Provider", "Recorder",
    "Reporter", "ResultOrder", "Results", "RunLog", "RunQuery", "RunRequest", "RunTrial", "Running", "Sandbox",
    "SandboxReport", "SandboxSpec", "ScoreContext", "Scorer", "Session", "Store", "SuiteFormat", "Tier", "Traits",
    "Workspace",
]
# fmt: on
