"""Eighteen kinds of faults of a model's service, in the middle of a session: the class, the verdict and the pause."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from skillgauge.api import FailureClass, JudgeRequest
from skillgauge_judges.openai import OpenAIJudge
from skillgauge_judges.options import OpenAIOptions
from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, run_shell
from skillgauge_testkit.program import Done, Program

pytestmark = pytest.mark.e2e

PLUGIN = Path(__file__).parent / "agent_suites.py"
KEY = "canary-of-the-engine-0123456789"
FINE = ModelReply("all is well")


@dataclass(frozen=True)
class Kind:
    """A kind of fault."""

    reply: ModelReply
    failure: FailureClass | None
    """What a session fails with; `None` if it passes in the end."""
    otherwise: dict[str, FailureClass | None]
    """The same of engines whose programs see it differently, or get over it."""
    is_once: bool = False
    """Whether the service has come back when it is asked again."""


def kind(
    fault: ModelFault,
    failure: FailureClass | None,
    message: str = "",
    *,
    is_once: bool = False,
    delay_s: float = 0.0,
    otherwise: dict[str, FailureClass | None] | None = None,
    document: object = None,
    **headers: str,
) -> Kind:
    """A fault with what comes of it."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = ModelReply("half of it", fault=fault, message=message, headers=headers, delay_s=delay_s, document=document)
    return Kind(reply, failure, otherwise or {}, is_once)


QUOTA = {
    "type": "error",
    "error": {
        "type": "insufficient_quota",
        "code": "insufficient_quota",
        "message": "insufficient_quota: see your plan",
    },
}
LONG, SHORT = "the pause of an hour", "a short pause"
KINDS = {
    "an expired key": kind(ModelFault.UNAUTHORIZED, FailureClass.AUTH),
    "a key without rights": kind(ModelFault.FORBIDDEN, FailureClass.AUTH),
    "a model that is gone": kind(ModelFault.NOT_FOUND, FailureClass.MODEL_NOT_FOUND),
    "a bad request": kind(ModelFault.BAD_REQUEST, FailureClass.BAD_REQUEST),
    SHORT: kind(ModelFault.RATE_LIMITED, None, is_once=True, Retry_After="1"),
    LONG: kind(ModelFault.RATE_LIMITED, FailureClass.RATE_LIMITED, Retry_After="3600"),
    # Qwen Code tells every 429 in the same words.
    "a quota": kind(
        ModelFault.RATE_LIMITED,
        FailureClass.BUDGET,
        document=QUOTA,
        otherwise={"acp:qwen": FailureClass.RATE_LIMITED},
    ),
    "no credit": kind(ModelFault.BAD_REQUEST, FailureClass.BUDGET, "Your credit balance is too low"),
    "a server's error": kind(ModelFault.SERVER_ERROR, FailureClass.SERVER),
    "a gateway's page": kind(ModelFault.BAD_GATEWAY, FailureClass.SERVER),
    "a service away": kind(ModelFault.UNAVAILABLE, FailureClass.OVERLOADED),
    "an overload": kind(ModelFault.OVERLOADED, FailureClass.OVERLOADED),
    # Claude Code and Copilot CLI sum up what was said, and go on.
    "a full context": kind(
        ModelFault.TOO_LONG,
        FailureClass.CONTEXT_TOO_LONG,
        is_once=True,
        otherwise={"claude-code": None, "acp:copilot": None},
    ),
    "a refusal": kind(ModelFault.REFUSED, FailureClass.REFUSED),
    "a reset in the answer": kind(ModelFault.CUT_BODY, FailureClass.NETWORK),
    "a reset before it": kind(ModelFault.DROPPED, FailureClass.NETWORK),
    "noise": kind(ModelFault.NOISE, FailureClass.PROTOCOL, otherwise={"codex": FailureClass.NETWORK}),
    "a stall": kind(ModelFault.GARBAGE, FailureClass.NETWORK, delay_s=300),
}
TIMES = {"acp:copilot": "90s", "acp:qwen": "60s", "api": "6s"}
"""Limits of sessions, which one that stalls lasts: longer for programs that are slow to start."""
TIME = "40s"
"""Where none stands there."""
HASTE = """\
data:text/javascript,
const wait = globalThis.setTimeout;
globalThis.setTimeout = (done, ms, ...rest) => wait(done, ms >= 1000 && ms <= 90000 ? ms / 50 : ms, ...rest);
"""
"""Makes pauses of a program on Node short, between its attempts above all: Qwen Code takes 76 s for seven of them."""
ENGINES = {
    "claude-code": ("claude", "", "ANTHROPIC"),
    "codex": ("codex", "/v1", "OPENAI"),
    "acp:copilot": ("copilot", "/v1", "COPILOT_PROVIDER"),
    "acp:qwen": ("qwen", "/v1", "OPENAI"),
    "api": ("", "/v1", "OPENAI"),
}
MODELS = {"claude-code": "claude-sonnet-4-5", "api": "m-1"}
real = [pytest.mark.engine, pytest.mark.slow]
EACH = pytest.mark.parametrize(
    "engine", [*(pytest.param(name, marks=real) for name in ENGINES if name != "api"), "api"]
)


class Faulty:
    """A service that lets each session begin, and then does to it what its prompt says."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: Counter[str] = Counter()

    def __call__(self, request: ModelRequest) -> ModelReply:
        """Answer one request."""
        name = next((name for name in KINDS if f"guest of {name}" in request.text), "")
        with self._lock:
            # A session that was summed up does not name its guest any more.
            if not name or (self._faults[name] and KINDS[name].is_once):
                return FINE
            if request.turn == 0:
                return ModelReply("I look.", tools=[run_shell("true")])
            self._faults[name] += 1
        return KINDS[name].reply


@pytest.fixture
def run(program: Program, work: Path, agent_program: Callable[[str], Path]) -> Callable[..., dict[str, Any]]:
    """Evaluates one case for each fault by an engine and returns the results by fault."""

    def evaluate(engine: str, names: list[str], timeout: str, retries: int = 0) -> dict[str, Any]:
        skill = work / "skills" / "calm"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: calm\ndescription: Keeps calm.\n---\nKeep calm.\n")
        path = work / "demo.agents.json"
        cases = [
            {"id": f"c{n}", "prompt": f"How is the guest of {name}?", "says": "well"} for n, name in enumerate(names)
        ]
        path.write_text(json.dumps({"skill": "skills/calm", "cases": cases}))
        command, address, key = ENGINES[engine]
        with ModelServer(Faulty()) as server:
            options: dict[str, Any] = {"base_url": f"{server.url}{address}"}
            if command:
                options |= {"program": agent_program(command), "api_retries": 0, "pass_env": '["NODE_OPTIONS"]'}
            prefix = engine.partition(":")[0]
            settings = [w for name, value in options.items() for w in ("--set", f"engines.{prefix}.{name}={value}")]
            words = ["eval", path, "--plugin", PLUGIN, "--engine", engine, "--model", MODELS.get(engine, "gpt-5.5")]
            words += [
                "--no-baseline",
                "--store",
                "none",
                "--json",
                "--retries",
                retries,
                "--concurrency",
                4,
                "--timeout",
                timeout,
                *settings,
            ]
            environment = {f"{key}_API_KEY": KEY, "NODE_OPTIONS": f"--import={quote(HASTE, safe=':/,')}"}
            done: Done = program(*words, env=environment, timeout_s=500)
        assert done.code in (0, 3), done.stderr
        return {names[int(result["case_id"][1:])]: result for result in done.document["results"]}

    return evaluate


@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
@EACH
def test_each_fault_has_its_class_and_is_no_verdict(run: Callable[..., dict[str, Any]], engine: str) -> None:
    """An error of the infrastructure, never a fail of the skill, or a pass where the program gets over it."""
    names = [name for name in reversed(KINDS) if name not in (LONG, SHORT)]  # the one that stalls beside all others
    results = run(engine, names, TIMES.get(engine, TIME))
    assert set(results) == set(names)
    seen = {name: (one["verdict"], _class_of(one)) for name, one in results.items()}
    failures = {name: KINDS[name].otherwise.get(engine, KINDS[name].failure) for name in names}
    assert seen == {name: ("error", failure) if failure else ("pass", None) for name, failure in failures.items()}
    blames = {one["execution"]["failure"]["blame"] for one in results.values() if one["verdict"] == "error"}
    assert blames == {"infrastructure"}


@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
@EACH
def test_a_short_pause_is_waited_for(run: Callable[..., dict[str, Any]], engine: str) -> None:
    """The service has come back when it is asked again."""
    result = run(engine, [SHORT], TIME, retries=1)[SHORT]
    assert (result["verdict"], _class_of(result)) == ("pass", None)


@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
@EACH
def test_a_long_pause_is_kept(run: Callable[..., dict[str, Any]], engine: str) -> None:
    """The class is that of the service, with the time that it asks for, and it is not asked again."""
    result = run(engine, [LONG], TIME, retries=1)[LONG]
    failure = result["execution"]["failure"]
    assert (result["verdict"], failure["failure_class"], result.get("attempts", 1)) == ("error", "rate_limited", 1)
    assert 3500 < failure["retry_after_s"] <= 3600


@pytest.mark.parametrize("name", KINDS)
def test_each_fault_of_a_judges_service(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge gives no answer, with the class of the fault and the pause that is asked for."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fault = KINDS[name]
    with ModelServer(lambda _request: fault.reply) as server:
        judge = OpenAIJudge(OpenAIOptions(base_url=f"{server.url}/v1", model="m-1", timeout_s=2))
        reply = asyncio.run(judge.ask(JudgeRequest(system="s", user="u", model=None, max_output_tokens=9)))
    expected = fault.failure or FailureClass.RATE_LIMITED
    is_late = fault.reply.delay_s > 0
    assert (reply.text, reply.failure_class) == (None, FailureClass.TIMEOUT if is_late else expected)
    pause = fault.reply.headers.get("Retry-After")
    assert reply.retry_after_s == (float(pause) if pause else None)


def _class_of(result: dict[str, Any]) -> str | None:
    failure = result["execution"].get("failure")
    return failure["failure_class"] if failure else None
