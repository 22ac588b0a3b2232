"""The guard around every call into a plugin's object: what breaks in it costs that plugin, and never the whole run.

`guarded` puts an object in front of a plugin's own. An exception, a `SystemExit`, an answer of the wrong type and a
call that does not end become a `SkillgaugeError` that names plugin, method and distribution, or an answer in place of
the plugin's (`Call.instead`) where going on is right.
"""
# ruff: noqa: BLE001 - plugins call `sys.exit`, and test libraries raise a `BaseException`

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from ..contract.artifacts import Artifact
from ..contract.engines import Recorder
from ..errors import Problem, SkillgaugeError
from ..log import get_logger, one_line
from .calls import CALLS, CLOSE, TEXT, Call, Shape, nothing
from .deadlines import alarm, bounded, is_cancelled
from .kinds import Kind, Resolved, broken

log = get_logger(__name__)

T = TypeVar("T")
Note = Callable[[Problem], None]

_GRACE_S = 1.0
"""How much later a call is ended that blocks the event loop, so that it cannot be cancelled."""


class Guarded:
    """Stands in front of a plugin's object."""

    def __init__(self, made: object, guard: Guard, calls: Mapping[str, Call]) -> None:
        self._made, self._guard, self._calls = made, guard, calls
        for name, call in calls.items():
            if call.shape is Shape.FACT:
                continue
            method = getattr(made, name, None)
            if method is None and call.optional:
                continue
            around = _AROUND[call.shape](guard, name, call, method or _absent(made, name))
            setattr(self, name, around)

    def __getattr__(self, name: str) -> Any:
        call = self._calls.get(name)
        if call is None or call.optional:
            return getattr(self._made, name)
        try:
            return call.checked(getattr(self._made, name))
        except BaseException as error:
            return self._guard.settle(name, call, error)


def _absent(made: object, name: str) -> Callable[..., object]:
    """A method in place of one that the plugin lacks."""

    def absent(*_args: object, **_kwargs: object) -> object:
        raise AttributeError(f"{type(made).__name__} has no {name}")

    return absent


class Guard:
    """Says what a failure of one plugin's object means."""

    def __init__(self, plugin: Resolved, note: Note, *, named: bool, granted_s: float) -> None:
        self._plugin, self._note, self._named = plugin, note, named
        self.granted_s = granted_s
        """Time that the plugin's own options grant."""

    def settle(self, method: str, call: Call, error: BaseException) -> Any:
        """The answer in place of one that failed.

        Raises:
            BaseException: there is none, or the exception is none of the plugin's.
        """
        if isinstance(error, (KeyboardInterrupt, GeneratorExit, *call.passing)):
            raise error
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise error
        log.debug("plugin.call.failed", plugin=self._plugin.name, method=method, exc_info=error)
        if isinstance(error, SkillgaugeError):
            problems = error.problems
        else:
            problems = (broken(self._plugin, f"failed in {method}: {one_line(error)}"),)
        if call.instead is None or (self._named and not call.if_named):
            raise call.raises(problems) from error
        if call.told or not self._named:
            self._note(problems[0])
        return call.instead(problems)

    def opened(self, made: T, table: str) -> T:
        """What a method opened, guarded in turn."""
        return cast("T", Guarded(made, self, CALLS[table])) if table else made


def guarded(kind: Kind[T] | str, made: T, plugin: Resolved, note: Note, *, named: bool, granted_s: float = 0.0) -> T:
    """A plugin's object behind its guard.

    Args:
        kind: whose methods it has.
        made: the object.
        plugin: whose it is.
        note: takes a failure that nothing else tells of.
        named: whether the user named the plugin; if not, it is passed over where that is possible.
        granted_s: time that its own options grant a call, beyond what every call has.
    """
    calls = CALLS.get(kind)
    if calls is None:
        return made
    guard = Guard(plugin, note, named=named, granted_s=granted_s)
    front = Guarded(made, guard, calls)
    for name, call in calls.items():
        if call is TEXT:
            setattr(front, name, getattr(front, name))  # read once: it does not change
    return cast("T", front)


def guarded_recorder(recorder: Recorder, plugin: Resolved) -> Recorder:
    """What an engine records with, behind the engine's guard."""
    return guarded("recorders", recorder, plugin, _unheard, named=True)


def _unheard(_problem: Problem) -> None:
    """A recorder has no method whose failure is only noted."""


def reason_of(error: BaseException, where: str) -> str:
    """Why something failed in a run: what the guard says, else the exception and where it came from."""
    if isinstance(error, SkillgaugeError):
        return error.problems[0].message
    return f"{where}: {type(error).__name__}: {error}"


def _plain(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    answers_no_more = False

    def around(*args: Any, **kwargs: Any) -> Any:
        nonlocal answers_no_more
        try:
            if call.deadline_s is None:
                return call.checked(method(*args, **kwargs))
            if answers_no_more:
                return nothing(())
            with alarm(call.deadline_s):
                return call.checked(method(*args, **kwargs))
        except BaseException as error:
            answer = guard.settle(name, call, error)
            answers_no_more = True
            return answer

    return around


def _awaited(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    opens, checked, deadline_s = call.opens, call.checked, (call.deadline_s or 0.0) + guard.granted_s

    async def around(*args: Any, **kwargs: Any) -> Any:
        try:
            answer = checked(await method(*args, **kwargs))
        except BaseException as error:
            return guard.settle(name, call, error)
        return guard.opened(answer, opens)

    async def in_time(*args: Any, **kwargs: Any) -> Any:
        try:
            return checked(await bounded(method(*args, **kwargs), deadline_s))
        except BaseException as error:
            return guard.settle(name, call, error)

    async def in_time_alone(*args: Any, **kwargs: Any) -> Any:
        """No other call is under way, so one that blocks the loop can be told from others and ended."""
        try:
            with alarm(deadline_s, _GRACE_S):
                return checked(await bounded(method(*args, **kwargs), deadline_s))
        except BaseException as error:
            return guard.settle(name, call, error)

    if call.deadline_s is None:
        return around
    return in_time_alone if name == "check" else in_time


def _stream(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    def each(take: Callable[[], Iterator[Any]], one: Call) -> Iterator[Any]:
        try:
            items = take()
        except BaseException as error:
            guard.settle(name, one, error)
        while True:
            try:
                item = one.checked(next(items))
            except StopIteration:
                return
            except BaseException as error:
                guard.settle(name, one, error)
            if isinstance(item, Artifact):
                chunks = item.chunks
                item = replace(item, chunks=each(lambda chunks=chunks: iter(chunks), replace(one, answers=(bytes,))))  # type: ignore[misc]  # a default binds the loop variable
            yield item

    return lambda *args, **kwargs: each(lambda: iter(method(*args, **kwargs)), call)


class _Opened:
    """A context of a plugin; a failure to close it is noted, since what was done in it is done."""

    def __init__(self, guard: Guard, name: str, call: Call, make: Callable[[], Any]) -> None:
        self._guard, self._name, self._call, self._make = guard, name, call, make

    async def __aenter__(self) -> Any:
        try:
            self._inner = self._make()
            opened = await self._inner.__aenter__()
        except BaseException as error:
            return self._guard.settle(self._name, self._call, error)
        return self._guard.opened(opened, self._call.opens)

    async def __aexit__(self, *raised: Any) -> bool | None:
        try:
            return cast("bool | None", await self._inner.__aexit__(*raised))
        except BaseException as error:
            if error is raised[1]:
                raise
            self._guard.settle(self._name, CLOSE, error)
            return None


def _opened(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _Opened(guard, name, call, lambda: method(*args, **kwargs))


_AROUND = {Shape.PLAIN: _plain, Shape.AWAITED: _awaited, Shape.STREAM: _stream, Shape.OPENED: _opened}
