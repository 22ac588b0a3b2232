"""Services that are overloaded, fail or refuse, through the whole program: what they are asked and what is told."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit import ModelFault, ModelReply, ModelRequest, ModelServer, run_shell
from skillgauge_testkit.program import PROGRAM, Done, Program

pytestmark = pytest.mark.e2e

PLUGIN = Path(__file__).parent / "agent_suites.py"
FINE = ModelReply("all is well")
KEY = "canary-of-the-engine-0123456789"


@pytest.fixture
def suite(work: Path) -> Callable[[int], Path]:
    """Write a suite of so many cases; each passes if the agent answers at all well."""

    def write(cases: int) -> Path:
        skill = work / "skills" / "calm"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text("---\nname: calm\ndescription: Keeps calm.\n---\nKeep calm.\n")
        path = work / "demo.agents.json"
        listed = [{"id": f"c{n}", "prompt": f"How is guest number {n}?", "says": "well"} for n in range(cases)]
        path.write_text(json.dumps({"skill": "skills/calm", "cases": listed}))
        return path

    return write


def command_of(suite: Path, server: ModelServer, *more: str, tools: bool = False) -> list[str | Path]:
    """Evaluate the arm with the skill by the engine that asks by itself; one question is a whole session."""
    words: list[str | Path] = ["eval", suite, "--plugin", PLUGIN, "--engine", "api", "--model", "m1", "--no-baseline"]
    words += ["--set", f"engines.api.base_url={server.url}/v1", "--set", f"engines.api.tools={str(tools).lower()}"]
    return [*words, "--store", "none", "--json", *more]


def attempts_of(done: Done) -> int:
    """All attempts of all trials."""
    return sum(one.get("attempts", 1) for one in done.document["results"])


def verdicts(done: Done) -> Counter[str]:
    """How many trials ended how."""
    return Counter(one["verdict"] for one in done.document["results"])


def given_up(done: Done) -> list[tuple[str, float]]:
    """Class and wait of every attempt that was made again."""
    return [
        (attempt["failure"]["failure_class"], attempt["wait_s"])
        for one in done.document["results"]
        for attempt in one.get("given_up", ())
    ]


class Counter429:
    """A service that bears so many at once and refuses all others; it counts."""

    def __init__(self, bears: int, *, lasts_s: float = 0.2, retry_after_s: float = 0.3) -> None:
        self._bears, self._lasts_s = bears, lasts_s
        self._refusal = ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": f"{retry_after_s}"})
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0
        self.refused = 0

    @contextmanager
    def _counted(self) -> Iterator[bool]:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
            is_too_much = self._now > self._bears
            self.refused += is_too_much
        try:
            yield is_too_much
        finally:
            with self._lock:
                self._now -= 1

    def __call__(self, _request: ModelRequest) -> ModelReply:
        """Take a while to answer, or none to refuse."""
        with self._counted() as is_too_much:
            if is_too_much:
                return self._refusal
            time.sleep(self._lasts_s)  # the service at work
            return FINE


@pytest.mark.slow
def test_a_service_gets_no_more_than_it_bears(program: Program, suite: Callable[[int], Path]) -> None:
    """429 to more than four at once: all trials pass in the end, each refusal was made again after its Retry-After."""
    service = Counter429(4)
    with ModelServer(service) as server:
        done = program(*command_of(suite(24), server, "--concurrency", "8"))
    assert done.code == 0, done.stderr
    assert verdicts(done) == {"pass": 24}
    assert service.most <= 8
    assert len(server.requests) == attempts_of(done) == 24 + service.refused
    assert given_up(done) == [("rate_limited", 0.3)] * service.refused
    assert service.refused <= 8


@pytest.mark.slow
def test_a_burst_of_overload_passes(program: Program, suite: Callable[[int], Path]) -> None:
    """529 to the first of every trial: each is asked once more and passes."""
    seen: Counter[str] = Counter()

    def script(request: ModelRequest) -> ModelReply:
        seen[request.prompt] += 1
        pause = {"retry-after": "0.1"}
        return FINE if seen[request.prompt] > 1 else ModelReply(fault=ModelFault.OVERLOADED, headers=pause)

    with ModelServer(script) as server:
        done = program(*command_of(suite(6), server, "--concurrency", "6"))
    assert done.code == 0, done.stderr
    assert verdicts(done) == {"pass": 6}
    assert set(seen.values()) == {2}
    assert given_up(done) == [("overloaded", 0.1)] * 6


@pytest.mark.slow
def test_a_failure_of_the_server_is_made_again(program: Program, suite: Callable[[int], Path]) -> None:
    """500 and then an answer: one further attempt after a second, which is told."""
    with ModelServer([ModelReply(fault=ModelFault.SERVER_ERROR), FINE]) as server:
        done = program(*command_of(suite(1), server))
    assert done.code == 0, done.stderr
    assert len(server.requests) == 2
    assert given_up(done) == [("server", 1.0)]


def test_endless_refusals_come_to_an_end(program: Program, suite: Callable[[int], Path], work: Path) -> None:
    """429 for ever: three requests for each trial, all are errors and none a fail, exit 3, and the report says it."""
    refusal = ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "0.01"})
    with ModelServer(lambda _request: refusal) as server:
        done = program(*command_of(suite(5), server, "--format", "markdown"))
    assert done.code == 3
    assert verdicts(done) == {"error": 5}
    assert len(server.requests) == attempts_of(done) == 15
    assert "5 of 5" in done.verdict
    assert "HTTP 429" in (work / "reports/eval-result.md").read_text()


def test_a_service_that_asks_for_hours_is_left_alone(program: Program, suite: Callable[[int], Path]) -> None:
    """Nobody waits for three hours: one request, and all further trials are errors that say why they were not tried."""
    refusal = ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "10800"})
    begun = datetime.now(UTC)
    with ModelServer(lambda _request: refusal) as server:
        done = program(*command_of(suite(6), server, "--concurrency", "1"))
    assert done.code == 3
    assert len(server.requests) == 1
    messages = [one["execution"]["failure"]["message"] for one in done.document["results"]]
    host = server.url.removeprefix("http://")
    told = f"not tried: {host} is overloaded; it asks for a pause of 10800 s, and the longest that is granted is 300 s"
    (reason,) = {*messages[1:]}
    assert reason.startswith(f"{told}: run the same command again after ")
    end = datetime.fromisoformat(f"{reason.removesuffix(' UTC')[-16:]}+00:00")
    assert begun - timedelta(minutes=1) <= end - timedelta(hours=3) <= datetime.now(UTC)
    assert {one["execution"]["failure"]["failure_class"] for one in done.document["results"]} == {"rate_limited"}


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(ModelFault.UNAUTHORIZED, "auth"), (ModelFault.NOT_FOUND, "model_not_found")],
)
def test_a_refused_key_is_not_used_for_every_trial(
    program: Program, suite: Callable[[int], Path], fault: ModelFault, kind: str
) -> None:
    """Of 40 trials at most those run that were under way when the fifth was refused; none is made again; exit 3."""
    with ModelServer(lambda _request: ModelReply(fault=fault)) as server:
        done = program(*command_of(suite(40), server, "--concurrency", "4"))
    assert done.code == 3
    assert verdicts(done) == {"error": 40}
    assert 5 <= len(server.requests) <= 5 + 3
    failures = [one["execution"]["failure"] for one in done.document["results"]]
    assert {failure["failure_class"] for failure in failures} == {kind}
    not_tried = [failure["message"] for failure in failures if failure["message"].startswith("not tried: ")]
    assert len(not_tried) == 40 - len(server.requests)
    assert all("engine 'api' with model 'm1' was refused 5 times in a row: HTTP 40" in one for one in not_tried)


@pytest.mark.parametrize("fault", [ModelFault.BAD_REQUEST, ModelFault.TOO_LONG, ModelFault.REFUSED])
def test_what_another_attempt_cannot_change_is_not_attempted(
    program: Program, suite: Callable[[int], Path], fault: ModelFault
) -> None:
    """One request for each trial, and its failure is an error of its own: the next prompt may be a better one."""
    with ModelServer(lambda _request: ModelReply(fault=fault)) as server:
        done = program(*command_of(suite(7), server, "--concurrency", "1"))
    assert done.code == 3
    assert verdicts(done) == {"error": 7}
    assert len(server.requests) == 7
    assert given_up(done) == []


@pytest.mark.slow
def test_engine_and_judges_share_what_a_service_bears(program: Program, suite: Callable[[int], Path]) -> None:
    """A panel of three at the engine's own server: with one at a time allowed, nothing is ever asked beside another."""
    service = Counter429(1, lasts_s=0.02)

    def script(request: ModelRequest) -> ModelReply:
        reply = service(request)
        return reply if request.model == "m1" else ModelReply("9, yes")

    with ModelServer(script) as server:
        panel = [word for name in "abc" for word in ("--judge", "openai", "--judge-model", name)]
        rubric = ["--check", 'rubric={"criteria": "Is it calm?", "scale": "0-10"}']
        address = ["--set", f"judges.openai.base_url={server.url}/v1"]
        done = program(*command_of(suite(3), server, "--concurrency", "1", *panel, *rubric, *address))
    assert done.code == 0, done.stdout + done.stderr
    assert len(server.requests) == 3 + 3 * 3
    assert (service.most, service.refused) == (1, 0)


@pytest.mark.slow
def test_attempts_that_failed_are_paid_for(program: Program, suite: Callable[[int], Path]) -> None:
    """A session that breaks off after its first answer has used 18 tokens; the third attempt would be beyond 30."""
    replies = [ModelReply(tools=[run_shell("true")]), ModelReply(fault=ModelFault.SERVER_ERROR)] * 3
    with ModelServer(replies) as server:
        done = program(*command_of(suite(2), server, "--max-tokens", "30", tools=True))
    assert done.code == 4, done.stderr
    assert len(server.requests) == 4
    (result,) = done.document["results"]
    assert result["attempts"] == 2
    assert [attempt["usage"]["total_tokens"] for attempt in result["given_up"]] == [18]
    assert result["execution"]["usage"]["total_tokens"] == 18


@pytest.mark.slow
@pytest.mark.parametrize("budget", [[], ["--max-tokens", "1000"]], ids=["no budget", "budget"])
def test_a_stop_ends_every_wait(
    suite: Callable[[int], Path], work: Path, environment: dict[str, str], budget: list[str]
) -> None:
    """Ctrl-C while trials wait for a pause of minutes, and others for a place or for what the first will cost."""
    asked = threading.Event()

    def script(_request: ModelRequest) -> ModelReply:
        asked.set()
        return ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "250"})

    with ModelServer(script) as server:
        words = [str(PROGRAM), *map(str, command_of(suite(9), server, "--concurrency", "3", *budget))]
        process = subprocess.Popen(words, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 130, stderr
        assert 1 <= len(server.requests) <= 3


@pytest.mark.engine
@pytest.mark.slow
def test_a_real_agent_is_cared_for(
    program: Program, suite: Callable[[int], Path], agent_program: Callable[[str], Path]
) -> None:
    """`claude` meets 529 in its first session: the trial is made again, the others pass, and nothing is a fail."""
    first: list[str] = []

    def script(request: ModelRequest) -> ModelReply:
        first[:] = first or [request.session]
        return ModelReply(fault=ModelFault.OVERLOADED) if request.session == first[0] else FINE

    with ModelServer(script) as server:
        options: dict[str, Any] = {"program": agent_program("claude"), "base_url": server.url, "api_retries": 0}
        settings = [w for key, value in options.items() for w in ("--set", f"engines.claude-code.{key}={value}")]
        words = ["eval", suite(3), "--plugin", PLUGIN, "--engine", "claude-code", "--no-baseline", "--store", "none"]
        done = program(*words, "--json", "--concurrency", "3", *settings, env={"ANTHROPIC_API_KEY": KEY}, timeout_s=300)
    assert done.code == 0, done.stdout + done.stderr
    assert verdicts(done) == {"pass": 3}
    assert attempts_of(done) == 4
    assert [kind for kind, _ in given_up(done)] == ["overloaded"]


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
@pytest.mark.parametrize(("name", "path", "key"), [("claude", "", "ANTHROPIC"), ("codex", "/v1", "OPENAI")])
def test_a_pause_that_an_agents_program_keeps_to_itself(
    program: Program,
    suite: Callable[[int], Path],
    agent_program: Callable[[str], Path],
    name: str,
    path: str,
    key: str,
) -> None:
    """An hour that the service asks for in the middle of a session is its class, and nobody asks again.

    `claude` gives up without naming the pause, and `codex` would sleep until the session's time is up.
    """
    engine = {"claude": "claude-code"}.get(name, name)

    def script(request: ModelRequest) -> ModelReply:
        if request.turn == 0:
            return ModelReply("I look.", tools=[run_shell("true")])
        return ModelReply(fault=ModelFault.RATE_LIMITED, headers={"Retry-After": "3600"})

    with ModelServer(script) as server:
        options = {"program": agent_program(name), "base_url": server.url + path}
        settings = [
            word for option, value in options.items() for word in ("--set", f"engines.{engine}.{option}={value}")
        ]
        words = ["eval", suite(3), "--plugin", PLUGIN, "--engine", engine, "--no-baseline", "--store", "none"]
        words += ["--json", "--concurrency", "1", "--timeout", "10m", *settings]
        done = program(*words, env={f"{key}_API_KEY": KEY}, timeout_s=300)
    first, *rest = [one["execution"]["failure"] for one in done.document["results"]]
    assert done.code == 3
    assert first["failure_class"] == "rate_limited"
    assert 3500 < first["retry_after_s"] <= 3600
    assert "HTTP 429 and asks for a pause of" in first["message"]
    assert [one["message"].partition(":")[0] for one in rest] == ["not tried"] * 2
    assert given_up(done) == []
    assert len({request.session for request in server.requests}) == 1
