"""The answers that methods of plugins' objects must give, as the contracts say, and what follows if they do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import cache
from inspect import iscoroutine, iscoroutinefunction
from types import NoneType, UnionType
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints, runtime_checkable

from skillgauge_documents.immutables import immutable

from ..contract.adapters import Adapter, Session
from ..contract.engines import Engine, Recorder, SessionReader
from ..contract.executors import Results
from ..contract.formats import FormatWithHeadlines, SuiteFormat
from ..contract.judges import Judge
from ..contract.reporters import Reporter
from ..contract.sandboxes import (
    ImageSandbox,
    NoRoomError,
    PackingWorkspace,
    Running,
    Sandbox,
    SandboxReport,
    Tier,
    Workspace,
)
from ..contract.scorers import Scorer
from ..contract.stores import Archive, BudgetingStore, LimitingStore, NotedStore, RunLog, Store, TrialNotedStore
from ..errors import PluginError, Problem, SkillgaugeError, StoreError
from .deadlines import CHECK_S, CLAIM_S, CLOSE_S, SCORE_S


@immutable
class Rule:
    """The limits of a method, and the consequence if it fails."""

    deadline_s: float | None = None
    passing: tuple[type[BaseException], ...] = (SkillgaugeError,)
    """What it may raise."""
    instead: Callable[[Sequence[Problem]], object] | None = None
    """Makes the answer that takes the place of the plugin's; without it, the failure is raised."""
    if_named: bool = True
    """Whether `instead` also holds for a plugin that the user named."""
    raises: type[SkillgaugeError] = PluginError


def nothing(_problems: Sequence[Problem]) -> None:
    """An answer in place of the plugin's that does not tell of the failure."""


@runtime_checkable
class Connection(Protocol):
    """A scorer that also holds something open as long as the run lasts, see `Scorer`."""

    async def open(self) -> None:
        """Before the first trial."""

    async def close(self) -> None:
        """After the last one, however the run ends."""


FURTHER: Mapping[type, tuple[type, ...]] = {
    SuiteFormat: (FormatWithHeadlines,),
    Scorer: (Connection,),
    Store: (Archive, BudgetingStore, LimitingStore, NotedStore, TrialNotedStore),
    Sandbox: (ImageSandbox,),
    Workspace: (PackingWorkspace,),
}
"""What an object of a contract may do beyond it, and is guarded in, too."""


_CHECK = Rule(CHECK_S, passing=(), instead=tuple)
CLOSE = Rule(instead=nothing)
_OF_METHODS: Mapping[tuple[type, str], Rule] = {
    (SuiteFormat, "claim"): Rule(CLAIM_S, passing=(), instead=nothing, if_named=False),
    (Adapter, "check"): _CHECK,
    (Adapter, "check_target"): Rule(passing=(), instead=tuple),
    (Session, "close"): CLOSE,
    (Engine, "check"): _CHECK,
    (Scorer, "score"): Rule(SCORE_S),
    (Connection, "close"): replace(CLOSE, deadline_s=CLOSE_S),
    (Judge, "check"): _CHECK,
    (Sandbox, "check"): replace(_CHECK, instead=lambda problems: SandboxReport(Tier.NONE, tuple(problems))),
    (Sandbox, "open"): Rule(passing=(SkillgaugeError, NoRoomError)),
    (RunLog, "info"): Rule(),
    (Reporter, "read"): Rule(instead=nothing, if_named=False),
    (Store, "close"): CLOSE,
    (Results, "stop"): CLOSE,
    (Results, "aclose"): CLOSE,
}
_OS = Rule(passing=(SkillgaugeError, OSError, ValueError))
_OF_CONTRACTS: Mapping[type, Rule] = {
    Workspace: _OS,
    PackingWorkspace: _OS,
    Running: _OS,
    Recorder: _OS,
    SessionReader: _OS,
    Archive: _OS,
    BudgetingStore: _OS,
    LimitingStore: _OS,
    NotedStore: _OS,
    TrialNotedStore: _OS,
    RunLog: Rule(raises=StoreError),
    Results: Rule(raises=SkillgaugeError),
}


@immutable
class Call:
    """A method or attribute of a contract."""

    rule: Rule
    is_method: bool
    is_awaited: bool
    how: object
    """What holds the answers: `tuple`, an iterator, an asynchronous context, or `None` for a plain answer."""
    answers: tuple[type, ...]
    opens: type | None
    """The contract of the answer, if it is an object of the plugin in turn."""

    def checked(self, answer: Any) -> Any:
        """The answer, if it is of the type that the contract says.

        Raises:
            TypeError: it is not.
        """
        if self.how is tuple and isinstance(answer, (tuple, list)):
            wrong = [one for one in answer if not isinstance(one, self.answers)]
            if not wrong:
                return tuple(answer)
            answer = wrong[0]
        elif self.how is not tuple and isinstance(answer, self.answers):
            return answer
        if iscoroutine(answer):
            answer.close()
        expected = " or ".join(one.__name__ for one in self.answers).replace("NoneType", "None")
        raise TypeError(f"answered with {type(answer).__name__} instead of {expected}")


@cache
def members_of(contract: type) -> frozenset[str]:
    """Return the names of everything that a contract demands."""
    names = (*vars(contract), *contract.__annotations__)
    return frozenset(name for name in names if name == "__aiter__" or not name.startswith("_"))


@cache
def call_of(contract: type, name: str) -> Call:
    """Return what a contract says of one of its members; its annotation is read for it, with all that this names."""
    member = vars(contract).get(name)
    rule = _OF_METHODS.get((contract, name)) or _OF_CONTRACTS.get(contract) or Rule()
    is_method = member is not None and not isinstance(member, property)
    how, answer = _held(_answer_hint(contract, name))
    if getattr(answer, "_is_protocol", False):
        return Call(rule, is_method, iscoroutinefunction(member), how, (object,), answer)
    return Call(rule, is_method, iscoroutinefunction(member), how, _plain_types(answer), None)


def _answer_hint(contract: type, name: str) -> Any:
    """Return the annotation of a method's answer or of an attribute."""
    member = vars(contract).get(name)
    if isinstance(member, property):
        member = member.fget
    if member is None:
        return get_type_hints(contract)[name]
    try:
        return get_type_hints(member)["return"]
    except NameError:  # of a summary, which contracts import for annotations alone: no plan needs one
        from ..types.results import summaries  # noqa: PLC0415

        return get_type_hints(member, localns=vars(summaries))["return"]


def _held(hint: Any) -> tuple[object, Any]:
    """Split an annotation into what holds the answers, `None` for a plain answer, and the type of one of them."""
    holder = get_origin(hint)
    if holder not in _HOLDERS:
        return None, hint
    if holder is Iterable:
        holder = Iterator
    return holder, get_args(hint)[0]


def _plain_types(hint: Any) -> tuple[type, ...]:
    """Return the types that an answer which is no object of the plugin may have."""
    if hint is NoneType:
        return (object,)
    if get_origin(hint) in (Union, UnionType):
        return get_args(hint)
    return (get_origin(hint) or hint,)


_HOLDERS = (tuple, Iterable, Iterator, AsyncIterator, AbstractAsyncContextManager)
