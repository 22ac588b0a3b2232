"""Finding the judges of a run, and what stands between them and the scorers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import pytest
from pydantic import BaseModel

from skillgauge.contract.judges import Judge, JudgeReply, JudgeRequest
from skillgauge.contract.providers import Fact, Provider, Traits, hookimpl
from skillgauge.errors import Problem, Severity, SuiteError
from skillgauge.plan.judging import Judging, find_judges, wanted_judges
from skillgauge.plan.options import Who
from skillgauge.run.judges import REMEMBERED, GuardedJudge
from skillgauge.run.services import REFUSED_OFTEN, Services
from skillgauge.types.arms import DIRECT
from skillgauge.types.suite import Suite, SuiteDefaults
from skillgauge.types.trial import FailureClass, Identity
from skillgauge.types.usage import Usage
from skillgauge_documents.frozen import Frozen
from skillgauge_documents.redaction import Redactor
from skillgauge_testkit.registries import registry_of


class Options(Frozen):
    """Options of the judges here."""

    model: str | None = None
    temperature: float | None = None
    service: str | None = None


class Named:
    """Answers with its own name and the request's text; counts its questions."""

    def __init__(self, name: str, options: Options | None = None) -> None:
        self.name, self.options = name, options or Options()
        self.requests: list[JudgeRequest] = []
        self.fails = 0
        self.failure = JudgeReply(text=None, error="down", retryable=True)
        self.gate = asyncio.Event()
        self.gate.set()

    async def check(self) -> tuple[Problem, ...]:
        """One that is asked for the model `broken` does not work."""
        return (Problem("judge.x", "broken"),) if self.options.model == "broken" else ()

    def identity(self, model: str | None) -> Identity:
        """Name, model and temperature."""
        asked = model or self.options.model
        settings = {"model": asked, "temperature": self.options.temperature}
        return Identity(
            name=self.name, settings=settings, service=self.options.service or f"https://{self.name}.test/v1"
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Fail as often as was said, then answer."""
        self.requests.append(request)
        await self.gate.wait()
        if self.fails:
            self.fails -= 1
            return self.failure
        return JudgeReply(text=f"{self.name}: {request.user}", usage=Usage(input_tokens=3))


def plugin(name: str, *patterns: str, paid: bool = True, login_files: tuple[str, ...] = ()) -> ModuleType:
    """A module that announces a judge."""

    def make(options: BaseModel) -> Judge:
        return Named(name, Options.model_validate(options))

    @hookimpl
    def skillgauge_judges() -> Iterable[Provider[Judge]]:
        secrets = ("SHARED_KEY", f"{name.upper()}_KEY")
        traits = Traits(secrets=secrets, login_files=login_files, model_patterns=patterns, paid=paid)
        yield Provider(name=name, options=Options, factory=make, summary="", traits=traits)

    module = ModuleType(f"judge_{name}")
    module.__dict__["skillgauge_judges"] = skillgauge_judges
    return module


def find(*names: str, models: tuple[str, ...] = (), temperature: float | None = None) -> Judging:
    """What is found with two judges installed."""
    registry = registry_of(plugin("alpha", "a-*"), plugin("beta", "b-*", paid=False))
    judging = find_judges(names, models, temperature, registry)
    return replace(judging, problems=tuple(asyncio.run(judging.check())))


def told(judging: Judging) -> list[str]:
    """Messages of its problems."""
    return [problem.message for problem in judging.problems]


def identities(judging: Judging) -> list[Identity]:
    """What the answers of the judges depend on."""
    return [one.identity for one in judging.found]


def test_nobody_is_named_and_nobody_found() -> None:
    """D-5: who needs a judge is told before anything runs that there is none, and how to name one."""
    judging = find()
    (problem,) = judging.problems
    assert (judging.found, judging.digest, problem.code, problem.severity) == ((), "", "judge.none", Severity.ERROR)
    assert "--judge NAME (installed: alpha, beta)" in str(problem)


def test_one_judge() -> None:
    """Its model and temperature reach it, and its identity is what the score depends on."""
    judging = find("alpha", models=("m",), temperature=0.5)
    (judge,) = (one.judge for one in judging.found)
    assert cast(Named, judge).options == Options(model="m", temperature=0.5)
    assert (identities(judging), judging.problems) == ([judge.identity(None)], ())
    assert judging.digest == judge.identity(None).digest
    assert [(one.traits.secrets, one.traits.paid) for one in judging.found] == [(("SHARED_KEY", "ALPHA_KEY"), True)]


@pytest.mark.requirement("UA-CLI-004")
def test_a_model_id_picks_its_judge() -> None:
    """A name that is no judge is tried as a model id, with a notice, and goes before a model named beside it."""
    judging = find("a-1", models=("other",))
    (identity,) = identities(judging)
    assert (identity.name, identity.settings["model"]) == ("alpha", "a-1")
    (notice,) = judging.problems
    assert notice.severity is Severity.WARNING
    told_so = "'a-1' is no installed judge; 'alpha' is asked for the model of that id, and not for 'other'"
    assert notice.message == told_so
    (identity,) = identities(find(models=("b-2",)))
    assert (identity.name, identity.settings["model"]) == ("beta", "b-2")


def test_a_name_that_is_neither() -> None:
    """The message names what is installed, and what to write instead."""
    judging = find("c-1")
    assert judging.found == ()
    assert told(judging) == [
        "'c-1' is no installed judge (installed: alpha, beta), and as a model id no judge claims it"
    ]


def test_a_panel() -> None:
    """Judges in their order, each with its model; all keys are known, and one that is paid makes it paid."""
    judging = find("alpha", "b-1", "alpha", models=("m1", "b-1", "m2"))
    assert [(one.name, one.settings["model"]) for one in identities(judging)] == [
        ("alpha", "m1"),
        ("beta", "b-1"),
        ("alpha", "m2"),
    ]
    assert [one.traits.paid for one in judging.found] == [True, False, True]
    assert judging.spenders == {"judge 'alpha'": judging.found[0].traits}
    assert judging.digest == "|".join(one.digest for one in identities(judging))
    assert told(judging) == ["'b-1' is no installed judge; 'beta' is asked for the model of that id"]


@pytest.mark.parametrize(
    ("names", "models", "messages"),
    [
        (("alpha", "beta"), (), ["2 judges may have no majority"]),
        (("alpha", "beta", "alpha"), (), ["the same judge twice is no panel"]),
        (("alpha", "beta", "alpha"), ("x", "y"), ["2 judge models for 3 judges"]),
        (("alpha",), ("x", "y"), ["2 judge models for 1 judges"]),
        (("alpha", "gamma", "delta"), (), ["'gamma' is no installed judge", "'delta' is no installed judge"]),
        (("alpha", "beta", "alpha"), ("x", "broken", "y"), ["broken"]),
    ],
)
def test_what_is_no_panel(names: tuple[str, ...], models: tuple[str, ...], messages: list[str]) -> None:
    """Everything that is wrong is told at once."""
    problems = find(*names, models=models).problems
    assert len(problems) == len(messages)
    for problem, message in zip(problems, messages, strict=True):
        assert problem.severity is Severity.ERROR
        assert problem.message.startswith(message)


def question(user: str = "how good?", **fields: object) -> JudgeRequest:
    """A question."""
    return JudgeRequest.model_validate({"system": "s", "user": user, **fields})


def test_the_same_question_is_asked_once() -> None:
    """The second answer is the first one, marked, without usage; any difference makes another question."""
    judge = Named("alpha")
    guarded = GuardedJudge(judge, lambda request: request, Services(4))

    async def ask() -> list[JudgeReply]:
        asked = [question(), question(), question(model="m"), question(temperature=1.0), question("else")]
        return [await guarded.ask(one) for one in asked]

    first, second, *others = asyncio.run(ask())
    assert (first.text, first.cached, first.usage) == ("alpha: how good?", False, Usage(input_tokens=3))
    assert (second.text, second.cached, second.usage) == ("alpha: how good?", True, None)
    assert [one.cached for one in others] == [False] * 3
    assert len(judge.requests) == 4
    assert guarded.identity("m") == judge.identity("m")
    assert asyncio.run(guarded.check()) == ()


def test_questions_at_once() -> None:
    """Who asks what is being asked waits for that answer, also when whoever asked first was cancelled."""
    judge = Named("alpha")
    guarded = GuardedJudge(judge, lambda request: request, Services(4))

    async def ask() -> tuple[list[JudgeReply], int]:
        judge.gate.clear()
        tasks = [asyncio.create_task(guarded.ask(question())) for _ in range(5)]
        await asyncio.sleep(0)
        asked_before = len(judge.requests)
        tasks[0].cancel()
        await asyncio.gather(tasks[0], return_exceptions=True)
        judge.gate.set()
        return list(await asyncio.gather(*tasks[1:])), asked_before

    replies, asked_before = asyncio.run(asyncio.wait_for(ask(), 20))
    assert (asked_before, len(judge.requests)) == (1, 2)
    assert sorted(reply.cached for reply in replies) == [False, True, True, True]


def test_failures_are_not_remembered() -> None:
    """Whoever asks again after a failure asks the judge."""
    judge = Named("alpha")
    judge.fails = 2
    guarded = GuardedJudge(judge, lambda request: request, Services(4))

    async def ask() -> list[JudgeReply]:
        return [await guarded.ask(question()) for _ in range(4)]

    assert [(reply.text is None, reply.cached) for reply in asyncio.run(ask())] == [
        (True, False),
        (True, False),
        (False, False),
        (False, True),
    ]


def test_memory_is_bounded() -> None:
    """The oldest answer is forgotten when there is no room."""
    judge = Named("alpha")
    guarded = GuardedJudge(judge, lambda request: request, Services(4))

    async def ask() -> list[bool]:
        for number in range(REMEMBERED + 1):
            await guarded.ask(question(f"{number}"))
        return [(await guarded.ask(question(user))).cached for user in ("1", "0")]

    assert asyncio.run(ask()) == [True, False]


def test_a_judge_is_told_no_secret() -> None:
    """Whatever a scorer asks, the values of known secrets are taken out on the way."""
    judge = Named("alpha")
    redactor = Redactor()
    redactor.register("API_KEY", "canary-123456")
    reply = asyncio.run(
        GuardedJudge(judge, redactor.redact, Services(4)).ask(question("key: canary-123456", system="canary-123456"))
    )
    (request,) = judge.requests
    assert (request.system, request.user) == ("[redacted:API_KEY]", "key: [redacted:API_KEY]")
    assert reply.text == "alpha: key: [redacted:API_KEY]"


def test_options_may_decide_what_a_judge_announces() -> None:
    """Traits are asked for with the options of the configuration, and a judge that cannot tell them is told of."""
    module = ModuleType("judge_of_options")

    def traits(options: Options) -> Traits:
        return Traits(paid=True, tells=frozenset({Fact.COST} if options.temperature else {}))

    @hookimpl
    def skillgauge_judges() -> Iterable[Provider[Judge]]:
        make = lambda options: Named("alpha", options)  # noqa: E731 - a def would say no more
        yield Provider(name="alpha", options=Options, factory=make, summary="", traits_with=traits)

    module.__dict__["skillgauge_judges"] = skillgauge_judges
    registry = registry_of(module, options={"judges.alpha": {"temperature": 1}})
    judging = find_judges(("alpha",), (), None, registry)
    assert [(one.traits.paid, one.traits.tells) for one in judging.found] == [(True, {Fact.COST})]


ALPHA, BETA, GATEWAY = "https://alpha.test", "https://beta.test/v1/x", "http://127.0.0.1:9/v1"


@pytest.mark.requirement("BF-CRED-004")
@pytest.mark.parametrize(
    ("keys", "services", "chosen", "model"),
    [
        (["ALPHA_KEY", "BETA_KEY"], [BETA], "beta", None),
        (["ALPHA_KEY", "BETA_KEY"], [ALPHA, ALPHA], "alpha", None),
        (["SHARED_KEY"], [f"{BETA} b-1"], "beta", "b-1"),
        (["BETA_KEY"], [f"{BETA} c-1", f"{BETA} b-1"], "beta", "b-1"),
        (["ALPHA_KEY"], [BETA], None, None),
        (["ALPHA_KEY", "BETA_KEY"], [ALPHA, BETA], None, None),
        (["ALPHA_KEY", "BETA_KEY"], [GATEWAY], None, None),
        (["ALPHA_KEY", "BETA_KEY"], [ALPHA, ""], None, None),
        (["ALPHA_KEY", "BETA_KEY"], [""], None, None),
        (["ALPHA_KEY", "BETA_KEY"], [], None, None),
        ([], [ALPHA], None, None),
    ],
)
def test_an_unnamed_judge_asks_whom_the_agents_ask(
    keys: list[str], services: list[str], chosen: str | None, model: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E-B2: only at the address of every engine, for their model if it serves it; else nobody, whatever keys."""
    for name in ("SHARED_KEY", "ALPHA_KEY", "BETA_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in keys:
        monkeypatch.setenv(name, "x")
    parts = [service.partition(" ") for service in services]
    runners = [Identity(name="e", service=service or None, model=model or None) for service, _, model in parts]
    registry = registry_of(plugin("beta", "b-*"), plugin("alpha", "a-*"))
    judging = find_judges((), (), None, registry, runners)
    assert [(one.name, one.settings["model"]) for one in identities(judging)] == ([(chosen, model)] if chosen else [])
    (problem,) = judging.problems
    assert problem.code == ("judge.unnamed" if chosen else "judge.none")
    assert problem.severity is (Severity.WARNING if chosen else Severity.ERROR)
    assert identities(find_judges(("beta",), (), None, registry, runners))[0].name == "beta"


def test_an_unnamed_judge_at_an_address_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """E-B2: a judge that was sent to the agents' gateway serves there, and its vendor's address no more."""
    monkeypatch.setenv("ALPHA_KEY", "x")
    registry = registry_of(plugin("alpha", "a-*"), options={"judges.alpha": {"service": GATEWAY}})

    def found(service: str) -> list[str]:
        runners = [Identity(name="e", service=service)]
        return [one.name for one in identities(find_judges((), (), None, registry, runners))]

    assert found("http://127.0.0.1:9/other") == ["alpha"]
    assert found(ALPHA) == []


def test_a_login_will_do_where_no_key_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A judge that uses a login is taken at the agents' address; one for which a key is enough comes before it."""
    for name in ("SHARED_KEY", "ALPHA_KEY", "BETA_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    same = {"judges.alpha": {"service": BETA}}
    registry = registry_of(plugin("alpha", login_files=(".alpha",)), plugin("beta"), options=same)

    def found() -> list[str]:
        return [one.name for one in identities(find_judges((), (), None, registry, [Identity(name="e", service=BETA)]))]

    assert found() == []
    (tmp_path / ".alpha").write_text("{}")
    assert found() == ["alpha"]
    monkeypatch.setenv("BETA_KEY", "x")
    assert found() == ["beta"]


def test_a_broken_judge_that_nobody_named_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are of no interest where another one will do."""
    monkeypatch.setenv("SHARED_KEY", "x")
    registry = registry_of(plugin("alpha"), plugin("beta"), options={"judges.alpha": {"unknown": 1}})
    assert identities(find_judges((), (), None, registry, [Identity(name="e", service=BETA)]))[0].name == "beta"


def test_judges_share_the_limit_of_their_service() -> None:
    """Questions wait for a place like sessions of engines do, and an answer gives it back."""
    judge, services = Named("alpha"), Services(2)
    guarded = GuardedJudge(judge, lambda request: request, services)
    limit = services.of(judge.identity(None))

    async def ask() -> tuple[int, int]:
        judge.gate.clear()
        async with limit.place("engine 'x'"):
            tasks = [asyncio.create_task(guarded.ask(question(f"{number}"))) for number in range(5)]
            for _ in range(20):
                await asyncio.sleep(0)
            asked_beside = len(judge.requests)
            judge.gate.set()
        await asyncio.gather(*tasks)
        return asked_beside, limit.under_way

    assert asyncio.run(asyncio.wait_for(ask(), 20)) == (1, 0)
    assert len(judge.requests) == 5


@pytest.mark.parametrize(
    ("failure", "allowed"),
    [
        (JudgeReply(text=None, error="slow", failure_class=FailureClass.OVERLOADED, retry_after_s=0.0), 4),
        (JudgeReply(text=None, error="slow", retry_after_s=0.0), 4),
        (JudgeReply(text=None, error="down", retryable=True), 8),
    ],
    ids=["class", "pause", "neither"],
)
def test_what_a_judge_says_of_load_is_heard(failure: JudgeReply, allowed: int) -> None:
    """A class of overload halves the limit of the service, and so does a pause without a class."""
    judge, services = Named("alpha"), Services(8)
    judge.fails, judge.failure = 1, failure
    reply = asyncio.run(GuardedJudge(judge, lambda request: request, services).ask(question()))
    assert reply == failure
    assert services.of(judge.identity(None)).allowed == allowed


def test_a_judge_that_is_refused_often_is_not_asked_again() -> None:
    """The reply says so, with the class of the refusals; no further question goes out."""
    judge = Named("alpha")
    judge.fails = 99
    judge.failure = JudgeReply(text=None, error="auth: HTTP 401", failure_class=FailureClass.AUTH)
    guarded = GuardedJudge(judge, lambda request: request, Services(1))

    async def ask() -> list[JudgeReply]:
        return [await guarded.ask(question(f"{number}")) for number in range(REFUSED_OFTEN + 3)]

    replies = asyncio.run(ask())
    assert len(judge.requests) == REFUSED_OFTEN
    assert {reply.error for reply in replies[:REFUSED_OFTEN]} == {"auth: HTTP 401"}
    for reply in replies[REFUSED_OFTEN:]:
        assert (reply.text, reply.failure_class, reply.retryable) == (None, FailureClass.AUTH, False)
        assert reply.error == "auth: not tried: judge 'alpha' was refused 5 times in a row: auth: HTTP 401"


class TestSuitesOwn:
    """A suite may name its judge, for where the user names none."""

    @staticmethod
    def suites(*judges: tuple[str | None, str | None]) -> list[Suite]:
        """Suites that name these judges and models."""
        return [
            Suite(
                id=f"s{at}",
                format="f",
                root="/",
                targets=(),
                arms=(DIRECT,),
                cases=(),
                defaults=SuiteDefaults(judge=name, judge_model=model),
            )
            for at, (name, model) in enumerate(judges)
        ]

    @pytest.mark.parametrize(
        ("given", "judges", "wanted"),
        [
            (((), ()), [("alpha", "a-1"), (None, None)], (("alpha",), ("a-1",))),
            (((), ()), [("alpha", None), ("alpha", None)], (("alpha",), ())),
            (((), ()), [(None, "b-1")], ((), ("b-1",))),
            ((("beta",), ()), [("alpha", "a-1")], (("beta",), ())),
            (((), ("m",)), [("alpha", "a-1")], ((), ("m",))),
            (((), ()), [(None, None)], ((), ())),
        ],
    )
    def test_which_is_taken(self, given: tuple[Any, Any], judges: list[tuple[str, str]], wanted: object) -> None:
        """What the user says goes before it; one that suites agree on is theirs."""
        who = Who(judges=given[0], judge_models=given[1])
        assert wanted_judges(who, self.suites(*judges), registry_of(plugin("alpha", "a-*"))) == wanted

    def test_a_configured_model_that_nobody_claims_goes_to_any_judge(self) -> None:
        """A service of one's own has models that no judge knows by name."""
        registry = registry_of(plugin("alpha", "a-*"), plugin("beta", "b-*"))
        for name in ("alpha", "beta"):
            who = Who(judges=(name,), judge_models=("own",), judge_model_is_default=True)
            assert wanted_judges(who, (), registry) == ((name,), ("own",))

    @pytest.mark.parametrize(
        ("named", "judges", "wanted"),
        [
            (("beta",), [], (("beta",), ())),
            (("alpha",), [], (("alpha",), ("a-9",))),
            ((), [("beta", None)], (("beta",), ())),
            ((), [("alpha", None)], (("alpha",), ("a-9",))),
            ((), [("alpha", "a-1")], (("alpha",), ("a-1",))),
            ((), [(None, "b-1")], ((), ("b-1",))),
            ((), [], ((), ("a-9",))),
            (("b-2",), [], (("b-2",), ())),
        ],
    )
    def test_a_configured_model_goes_where_it_fits(
        self, named: tuple[str, ...], judges: list[tuple[str, str]], wanted: object
    ) -> None:
        """R3-M2: to a judge that serves it; it picks one only where neither command nor suite says anything."""
        who = Who(judges=named, judge_models=("a-9",), judge_model_is_default=True)
        registry = registry_of(plugin("alpha", "a-*"), plugin("beta", "b-*"))
        assert wanted_judges(who, self.suites(*judges), registry) == wanted

    def test_several(self) -> None:
        """No suite is graded by the judge of another one."""
        with pytest.raises(SuiteError, match="different judges: alpha, b-1"):
            wanted_judges(Who(), self.suites(("alpha", None), (None, "b-1")), registry_of())
