"""What the methods of plugins' objects must answer, kind by kind, and what follows if they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from inspect import iscoroutine
from types import NoneType
from typing import Any

from ..contract.artifacts import Artifact
from ..contract.formats import Claim, Dumped, Loaded
from ..contract.judges import JudgeReply
from ..contract.sandboxes import Finished, ModelRoute, SandboxReport, Tier
from ..contract.stores import Claimed
from ..errors import PluginError, Problem, SkillgaugeError, StoreError
from ..types.result import Figure, RunInfo, RunView, Score, TrialResult
from ..types.trial import Execution, Identity

CHECK_S = 40.0
"""Longest time that a plugin may take to find out what keeps it from working."""
CLAIM_S = 10.0
"""Longest time that a format may look at one path."""
SCORE_S = 60.0
"""Longest time for one check, beyond what the scorer's own option `timeout_s` grants, and without waits for judges."""


class Shape(Enum):
    """How a method answers."""

    PLAIN = "at once"
    AWAITED = "to `await`"
    STREAM = "one after another"
    OPENED = "by an asynchronous context"
    FACT = "as an attribute"


@dataclass(frozen=True)
class Call:
    """What a method must answer, and what follows if it does not."""

    shape: Shape
    answers: tuple[type, ...]
    several: bool = False
    """A tuple of such answers."""
    deadline_s: float | None = None
    passing: tuple[type[BaseException], ...] = (SkillgaugeError,)
    """What the contract lets it raise."""
    instead: Callable[[Sequence[Problem]], object] | None = None
    """Makes the answer that takes the place of the plugin's; without it, the failure is raised."""
    if_named: bool = True
    """Whether `instead` also holds for a plugin that the user named."""
    told: bool = False
    """Whether nobody hears of the failure by the answer that takes the place."""
    opens: str = ""
    """Of which table the answer is guarded in turn."""
    raises: type[SkillgaugeError] = PluginError
    optional: bool = False

    def checked(self, answer: Any) -> Any:
        """The answer, if it is of the type that the contract says.

        Raises:
            TypeError: it is not.
        """
        if self.several and isinstance(answer, (tuple, list)):
            wrong = [one for one in answer if not isinstance(one, self.answers)]
            if not wrong:
                return tuple(answer)
            answer = wrong[0]
        elif not self.several and isinstance(answer, self.answers):
            return answer
        if iscoroutine(answer):
            answer.close()
        wanted = " or ".join(one.__name__ for one in self.answers).replace("NoneType", "None")
        raise TypeError(f"answered with {type(answer).__name__} instead of {wanted}")


def nothing(_problems: Sequence[Problem]) -> None:
    """The plugin is passed over."""


def _unusable(problems: Sequence[Problem]) -> SandboxReport:
    return SandboxReport(Tier.NONE, tuple(problems))


_CHECK = Call(Shape.AWAITED, (Problem,), several=True, deadline_s=CHECK_S, passing=(), instead=tuple)
_IDENTITY = Call(Shape.PLAIN, (Identity,))
CLOSE = Call(Shape.AWAITED, (object,), instead=nothing, told=True)
TEXT = Call(Shape.FACT, (str,))
_KEPT = (SkillgaugeError, OSError, ValueError)
"""What a workspace and a recorder may raise."""

CALLS: Mapping[str, Mapping[str, Call]] = {
    "formats": {
        "claim": Call(Shape.PLAIN, (Claim, NoneType), deadline_s=CLAIM_S, passing=(), instead=nothing, if_named=False),
        "load": Call(Shape.PLAIN, (Loaded,)),
        "dump": Call(Shape.PLAIN, (Dumped,)),
        "figures": Call(Shape.PLAIN, (Figure,), several=True),
    },
    "adapters": {
        "check": _CHECK,
        "check_target": Call(Shape.PLAIN, (Problem,), several=True, passing=(), instead=tuple),
        "identity": _IDENTITY,
        "open": Call(Shape.AWAITED, (object,), opens="sessions"),
    },
    "sessions": {"call": Call(Shape.AWAITED, (Execution,)), "close": CLOSE},
    "engines": {
        "check": _CHECK,
        "identity": _IDENTITY,
        "routes": Call(Shape.PLAIN, (ModelRoute,), several=True),
        "run": Call(Shape.AWAITED, (Execution,)),
    },
    "recorders": {"record": Call(Shape.AWAITED, (object,), passing=_KEPT)},
    "scorers": {"version": TEXT, "score": Call(Shape.AWAITED, (Score,), deadline_s=SCORE_S)},
    "judges": {"check": _CHECK, "identity": _IDENTITY, "ask": Call(Shape.AWAITED, (JudgeReply,))},
    "sandboxes": {
        "check": replace(_CHECK, answers=(SandboxReport,), several=False, instead=_unusable),
        "open": Call(Shape.OPENED, (object,), opens="workspaces"),
    },
    "workspaces": {
        "start": Call(Shape.AWAITED, (object,), passing=_KEPT, opens="processes"),
        "put": Call(Shape.AWAITED, (object,), passing=_KEPT),
        "snapshot": Call(Shape.AWAITED, (Mapping,), passing=_KEPT),
        "collect": Call(Shape.AWAITED, (bytes,), passing=_KEPT),
    },
    "processes": {
        "wait": Call(Shape.AWAITED, (Finished,), passing=_KEPT),
        "write": Call(Shape.AWAITED, (object,), passing=_KEPT),
        "stop": Call(Shape.AWAITED, (Finished,), passing=_KEPT),
    },
    "reporters": {
        "suffix": TEXT,
        "render": Call(Shape.STREAM, (Artifact,)),
        "read": Call(Shape.PLAIN, (RunView, NoneType), instead=nothing, if_named=False),
    },
    "stores": {
        "durable": Call(Shape.FACT, (bool,)),
        "begin": Call(Shape.AWAITED, (object,), opens="run logs"),
        "scan": Call(Shape.STREAM, (RunView,)),
        "close": CLOSE,
        "keep": Call(Shape.AWAITED, (bool,), passing=_KEPT, optional=True),
    },
    "run logs": {
        "info": Call(Shape.FACT, (RunInfo,)),
        "claim": Call(Shape.AWAITED, (Claimed,), raises=StoreError),
        "commit": Call(Shape.AWAITED, (object,), raises=StoreError),
        "results": Call(Shape.STREAM, (TrialResult,), raises=StoreError),
        "finish": Call(Shape.AWAITED, (RunInfo,), raises=StoreError),
    },
    "executors": {"run": Call(Shape.PLAIN, (object,))},
}
"""What is guarded of each kind, and of what its objects open. A method that is not here is called as it is."""
