"""The judges of a run: found by name or by the id of a model, and guarded on the way to scorers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from .announcements import claims, traits_of
from .errors import PluginError, Problem, Severity
from .limits import NotTried, Providers
from .protocols import Judge, JudgeReply, JudgeRequest, Traits
from .registry import JUDGES, Registry, Resolved
from .surroundings import host_environment
from .types.frozen import digest_text
from .types.trial import Failure, FailureClass, Identity

REMEMBERED = 4096
"""Answers that a run remembers of each judge; the oldest are forgotten, so that memory does not grow with trials."""


@dataclass(frozen=True)
class Judging:
    """The judges of a run, in the order in which they were named."""

    judges: tuple[Judge, ...] = ()
    identities: tuple[Identity, ...] = ()
    """What their answers depend on."""
    secrets: tuple[str, ...] = ()
    """Names of the variables that hold their keys."""
    traits: tuple[Traits, ...] = ()
    """What each of them announces, in the same order."""
    problems: tuple[Problem, ...] = ()
    """What keeps them from working, and notices; of interest only to a run that needs a judge."""

    @property
    def paid(self) -> bool:
        """Whether an answer of any of them costs money."""
        return any(traits.paid for traits in self.traits)

    @property
    def digest(self) -> str:
        """Of everything their answers depend on; part of every score id."""
        return "|".join(identity.digest for identity in self.identities)

    @property
    def versions(self) -> dict[str, str]:
        """What makes a plan with other judges another plan."""
        return {"judge identity": self.digest} if self.identities else {}


def find_judges(
    names: Sequence[str],
    models: Sequence[str],
    temperature: float | None,
    registry: Registry,
    agents: Sequence[str] = (),
) -> Judging:
    """The judges, not checked yet, or what is wrong with them.

    Args:
        names: installed judges, or model ids, of which each picks the judge that serves it.
        models: one for each judge; none leaves it to them. Without names, each picks its judge.
        temperature: at which they answer; `None` leaves it to each.
        registry: the run's plugins.
        agents: models that the user named for agents, which pick the judge where neither name nor model is given.
    """
    problems: list[Problem] = []
    if not names and not models:
        names, models = _unnamed(agents, registry, problems)
    if names and models and len(names) != len(models):
        message = f"{len(models)} judge models for {len(names)} judges"
        hint = "Give one model for each judge, in the same order."
        return Judging(problems=(Problem("usage.judges", message, hint=hint),))
    found = []
    for at in range(max(len(names), len(models))):
        name, model = names[at] if names else None, models[at] if models else None
        try:
            found.append(_find(name, model, temperature, registry, problems))
        except PluginError as error:
            problems += error.problems
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Judging(problems=tuple(problems))
    identities = tuple(identity for _, _, identity in found)
    return Judging(
        judges=tuple(judge for _, judge, _ in found),
        identities=identities,
        secrets=tuple(dict.fromkeys(name for traits, _, _ in found for name in traits.secrets)),
        traits=tuple(traits for traits, _, _ in found),
        problems=(*problems, *_no_majority(identities)),
    )


async def checked(judging: Judging) -> Judging:
    """The same judges, each asked what keeps it from working."""
    found = [problem for judge in judging.judges for problem in await judge.check()]
    return replace(judging, problems=(*judging.problems, *found))


def _unnamed(
    agents: Sequence[str], registry: Registry, notices: list[Problem]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the judges whose key is here, by name, the first that serves an agent's model, else the first."""
    environ = host_environment()
    able = [one for one in registry.load_all(JUDGES) if any(map(environ.get, one.provider.traits.secrets))]
    able.sort(key=lambda one: one.name)
    if not able:
        return (), ()
    served = ((one.name, model) for one in able for model in agents if claims(one, model))
    name, model = next(served, (able[0].name, None))
    message = f"no judge is named: {name!r} is asked, whose key is here"
    notices.append(Problem("judge.unnamed", message, hint="Name one with --judge.", severity=Severity.WARNING))
    return (name,), (model,) if model else ()


def _find(
    name: str | None, model: str | None, temperature: float | None, registry: Registry, notices: list[Problem]
) -> tuple[Traits, Judge, Identity]:
    if name is not None and name in registry.names("judges"):
        chosen = registry.resolve(JUDGES, name)
    else:
        chosen = _serving(name or model or "", registry)
        if name is not None:
            instead = f", and not for {model!r}" if model not in (None, name) else ""
            message = f"{name!r} is no installed judge; {chosen.name!r} is asked for the model of that id{instead}"
            notices.append(Problem("judge.model-id", message, severity=Severity.WARNING))
            model = name
    asked = {"model": model, "temperature": temperature}
    judge = registry.make(JUDGES, chosen, {key: value for key, value in asked.items() if value is not None} or None)
    return traits_of(chosen, registry), judge, judge.identity(model)


def _no_majority(judges: Sequence[Identity]) -> list[Problem]:
    problems = []
    if judges and len(judges) % 2 == 0:
        hint = "Name one judge, or a larger odd number."
        problems.append(Problem("usage.judges", f"{len(judges)} judges may have no majority", hint=hint))
    if len({judge.digest for judge in judges}) < len(judges):
        hint = "Name judges that differ, in the model at least."
        problems.append(Problem("usage.judges", "the same judge twice is no panel", hint=hint))
    return problems


def _serving(model: str, registry: Registry) -> Resolved:
    """The one judge that claims a model id."""
    able = [one for one in registry.load_all(JUDGES) if claims(one, model)]
    if len(able) == 1:
        return able[0]
    known = ", ".join(registry.names("judges")) or "none"
    found = f"several judges claim it: {', '.join(one.name for one in able)}" if able else "no judge claims it"
    message = f"{model!r} is no installed judge (installed: {known}), and as a model id {found}"
    raise PluginError(Problem("plugin.not-installed", message, hint="Name both: --judge NAME --judge-model ID."))


class GuardedJudge:
    """A judge as scorers see it: told no secret, not asked the same twice, and asked as its service bears it.

    What was answered is remembered for this run and no longer: the next run may meet another model of the same name.

    Args:
        judge: who answers.
        clean: takes secrets out of a request.
        providers: what the services of the run bear.
    """

    def __init__(self, judge: Judge, clean: Callable[[JudgeRequest], JudgeRequest], providers: Providers) -> None:
        self._judge = judge
        self._clean = clean
        self._providers = providers
        self._replies: dict[str, JudgeReply] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def check(self) -> tuple[Problem, ...]:
        """See `Judge.check`."""
        return await self._judge.check()

    def identity(self, model: str | None) -> Identity:
        """See `Judge.identity`."""
        return self._judge.identity(model)

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """See `Judge.ask`; who asks what is being asked already waits for that answer. A failure is not remembered."""
        request = self._clean(request)
        key = digest_text(request.model_dump_json())
        turn = self._turns.setdefault(key, asyncio.Lock())
        async with turn:
            known = self._replies.get(key)
            if known is not None:
                return known
            reply = await self._ask(request)
            if reply.text is not None:
                if len(self._replies) >= REMEMBERED:
                    del self._replies[next(iter(self._replies))]
                self._replies[key] = reply.model_copy(update={"usage": None, "cached": True})
            return reply

    async def _ask(self, request: JudgeRequest) -> JudgeReply:
        identity = self._judge.identity(request.model)
        limit = self._providers.of(identity)
        try:
            async with limit.place(f"judge {identity.name!r}") as place:
                reply = await self._judge.ask(request)
                place.leave(_failure(reply))
        except NotTried as not_tried:
            failure = not_tried.failure
            told = f"{failure.failure_class}: {failure.message}"
            return JudgeReply(text=None, error=told, failure_class=failure.failure_class)
        return reply


def _failure(reply: JudgeReply) -> Failure | None:
    """Why there is no answer; who asks for a pause without saying why has too much to do."""
    if reply.text is not None:
        return None
    kind = FailureClass.INTERNAL if reply.retry_after_s is None else FailureClass.RATE_LIMITED
    return Failure.of_agent(reply.failure_class or kind, reply.error or "", retry_after_s=reply.retry_after_s)
