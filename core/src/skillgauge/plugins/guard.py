"""The guard around every call into a plugin's object: what breaks in it costs that plugin, and never the whole run.

`guarded` puts an object in front of a plugin's own. An exception, a `SystemExit`, an answer of the wrong type and a
call that does not end become a `SkillgaugeError` that names plugin, method and distribution, or an answer in place of
the plugin's (`Rule.instead`) where going on is right.
"""
# ruff: noqa: BLE001 - plugins call `sys.exit`, and test libraries raise a `BaseException`

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar, cast

from ..contract.reporters import Artifact
from ..errors import Problem, SkillgaugeError
from ..log import get_logger, one_line
from .calls import CLOSE, FURTHER, Call, Rule, call_of, members_of, nothing
from .deadlines import GRACE_S, JUDGED_S, SCORE_S, alarm, bounded, is_cancelled
from .kinds import EXTENSIONS, KINDS, Kind, Resolved, broken

log = get_logger(__name__)

T = TypeVar("T")
Note = Callable[[Problem], None]


def guarded(kind: Kind[T], plugin_object: T, plugin: Resolved, note: Note, *, named: bool, granted_s: float = 0.0) -> T:
    """A plugin's object behind its guard.

    Args:
        kind: whose contract it fulfils; events of extensions have a guard of their own.
        plugin_object: the object.
        plugin: whose it is.
        note: takes a failure that nothing else tells of.
        named: whether the user named the plugin; if not, it is passed over where that is possible.
        granted_s: time that its own options grant a call, beyond what every call has.
    """
    if kind == EXTENSIONS:
        return plugin_object
    if plugin.provider.traits.asks_judge:
        granted_s += JUDGED_S - SCORE_S
    guard = Guard(plugin, note, named=named, granted_s=granted_s)
    return cast("T", Guarded(plugin_object, guard, KINDS[kind].contract))


def guarded_part(contract: Any, part: T, plugin: Resolved) -> T:
    """Return the part by which an engine records or finds sessions, behind the engine's guard."""
    guard = Guard(plugin, lambda _problem: None, named=True, granted_s=0.0)
    return cast("T", Guarded(part, guard, contract))


def reason_of(error: BaseException, where: str) -> str:
    """Return the reason of a failure in a run: the guard's words, else the exception and its origin."""
    if isinstance(error, SkillgaugeError):
        return error.problems[0].message
    return f"{where}: {type(error).__name__}: {error}"


class Guarded:
    """Stands in front of a plugin's object."""

    def __init__(self, plugin_object: Any, guard: Guard, contract: type) -> None:
        self._made, self._guard, self._contract = plugin_object, guard, contract
        for name in contract.__annotations__:
            setattr(self, name, getattr(self, name))  # read once: it does not change
        for further in FURTHER.get(contract, ()):
            names = members_of(further)
            if not all(callable(getattr(plugin_object, name, None)) for name in names):
                continue  # as `isinstance` would tell, which takes as long as all the rest
            for name in names:  # at once, since `isinstance` looks for them
                setattr(self, name, _around(guard, name, call_of(further, name), getattr(plugin_object, name)))

    @property  # type: ignore[misc]  # `object` lets its own be set; nobody sets this one
    def __class__(self) -> type:
        """The class that it passes for; `type` tells that it is the guard."""
        return type(self._made)

    def __getattr__(self, name: str) -> Any:
        if name not in members_of(self._contract):
            return getattr(self._made, name)
        call = call_of(self._contract, name)
        if call.is_method:  # most objects are asked for a few of theirs, so each is made when it is asked for
            around = _around(self._guard, name, call, _method(self._made, name))
            setattr(self, name, around)
            return around
        try:
            return call.checked(getattr(self._made, name))
        except BaseException as error:
            return self._guard.settle(name, call.rule, error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        call = call_of(self._contract, "__aiter__")
        try:
            async for item in self._made:
                yield call.checked(item)
        except BaseException as error:
            self._guard.settle("run", call.rule, error)


def _method(plugin_object: object, name: str) -> Callable[..., Any]:
    """Return a method of a plugin's object, or one that raises what keeps it from being found."""
    try:
        found: Any = getattr(plugin_object, name, None)
        if found is not None:
            return cast("Callable[..., Any]", found)
        missing: BaseException = AttributeError(f"{type(plugin_object).__name__} has no {name}")
    except Exception as error:
        missing = error

    def failing(*_args: object, **_kwargs: object) -> object:
        raise missing

    return failing


class Guard:
    """Says what a failure of one plugin's object means."""

    def __init__(self, plugin: Resolved, note: Note, *, named: bool, granted_s: float) -> None:
        self._plugin, self._note, self._named = plugin, note, named
        self.granted_s = granted_s
        """Time that the plugin's own options grant."""

    def settle(self, method: str, rule: Rule, error: BaseException) -> Any:
        """The answer in place of one that failed.

        Raises:
            BaseException: there is none, or the exception is none of the plugin's.
        """
        is_ours = isinstance(error, asyncio.CancelledError) and is_cancelled()
        if is_ours or isinstance(error, (KeyboardInterrupt, GeneratorExit, *rule.passing)):
            raise error
        log.debug("plugin.call.failed", plugin=self._plugin.name, method=method, exc_info=error)
        if isinstance(error, SkillgaugeError):
            problems = error.problems
        else:
            problems = (broken(self._plugin, f"failed in {method}: {one_line(error)}"),)
        if rule.instead is None or (self._named and not rule.if_named):
            raise rule.raises(problems) from error
        if rule.instead is nothing or not self._named:
            self._note(problems[0])
        return rule.instead(problems)


def _around(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method behind its guard, as its contract lets it answer."""
    if call.how is Iterator:
        return lambda *args, **kwargs: _each(guard, name, call, lambda: iter(method(*args, **kwargs)))
    if call.how is AbstractAsyncContextManager:
        return lambda *args, **kwargs: _Opened(guard, name, call, lambda: method(*args, **kwargs))
    if call.how not in (None, tuple):
        return method  # of a process, for plugins, which are guarded themselves
    return (_awaited if call.is_awaited else _plain)(guard, name, call, method)


def _plain(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    rule, is_given_up = call.rule, False

    def around(*args: Any, **kwargs: Any) -> Any:
        nonlocal is_given_up
        try:
            if is_given_up and rule.deadline_s:
                return nothing(())
            with alarm(rule.deadline_s) if rule.deadline_s else nullcontext():
                answer = call.checked(method(*args, **kwargs))
            if call.opens:
                return Guarded(answer, guard, call.opens)
        except BaseException as error:
            answer = guard.settle(name, rule, error)
            is_given_up = True
        return answer

    return around


def _awaited(guard: Guard, name: str, call: Call, method: Callable[..., Any]) -> Callable[..., Any]:
    rule, opens, checked = call.rule, call.opens, call.checked
    deadline_s = rule.deadline_s or 0.0
    if rule.instead is not nothing:  # its options grant no time to close it
        deadline_s += guard.granted_s
    # Nothing but checks is under way then, so one that blocks the loop is what runs when its alarm rings.
    is_check = name == "check"

    async def around(*args: Any, **kwargs: Any) -> Any:
        try:
            with alarm(deadline_s, GRACE_S) if is_check else nullcontext():
                answering = method(*args, **kwargs)
                answer = checked(await (answering if rule.deadline_s is None else bounded(answering, deadline_s)))
        except BaseException as error:
            return guard.settle(name, rule, error)
        return Guarded(answer, guard, opens) if opens else answer

    return around


def _each(guard: Guard, name: str, call: Call, take: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    items = None
    while True:
        try:
            items = items or take()
            item = call.checked(next(items))
        except StopIteration:
            return
        except BaseException as error:
            guard.settle(name, call.rule, error)
        if isinstance(item, Artifact):
            content = _each(guard, name, replace(call, answers=(bytes,)), item.chunks.__iter__)
            item = replace(item, chunks=content)
        yield item


class _Opened:
    """A context of a plugin; a failure to close it is noted, since what was done in it is done."""

    def __init__(self, guard: Guard, name: str, call: Call, make: Callable[[], Any]) -> None:
        self._guard, self._name, self._call, self._make = guard, name, call, make

    async def __aenter__(self) -> Any:
        try:
            self._inner = self._make()
            opened = await self._inner.__aenter__()
        except BaseException as error:
            return self._guard.settle(self._name, self._call.rule, error)
        return Guarded(opened, self._guard, cast("type", self._call.opens))

    async def __aexit__(self, *raised: Any) -> bool | None:
        try:
            return cast("bool | None", await self._inner.__aexit__(*raised))
        except BaseException as error:
            if error is raised[1]:
                raise
            self._guard.settle(self._name, CLOSE, error)
            return None
