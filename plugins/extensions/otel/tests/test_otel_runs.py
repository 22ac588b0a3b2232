"""Runs of the command line, and what arrives of them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge_testkit.program import PROGRAM, TIME_LIMIT_S, Done, Program

from .conftest import Endpoint, Receiver, serving

ROOT = Path(__file__).resolve().parents[4]
AGENT = ROOT / "examples/agent"
SUITE = AGENT / "release-notes/evals/evals.json"
MOCK = ("--engine", "mock", "--set", f"engines.mock.script={AGENT / 'release-notes.mock.yaml'}", "--sandbox", "local")
WARNING = "otel.not-delivered"


def evaluate(program: Program, address: str | None, *more: str | Path, env: Mapping[str, str] | None = None) -> Done:
    """Evaluate the example with an agent that plays a script, and send it somewhere."""
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": address} if address else {}
    return program("eval", SUITE, *MOCK, "--store", "none", *more, env={**variables, **(env or {})})


def attributes(item: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes by name, as plain values."""
    return {entry["key"]: next(iter(entry["value"].values()), None) for entry in item.get("attributes", ())}


def named(endpoint: Endpoint, beginning: str) -> list[dict[str, Any]]:
    """Spans whose name begins so."""
    return [span for span in endpoint.spans if span["name"].startswith(beginning)]


@pytest.mark.slow
def test_a_run_is_a_trace(program: Program, endpoint: Endpoint) -> None:
    """The run is the root, each trial below it, in it its session, and each check an event of the session."""
    done = evaluate(program, endpoint.address)
    assert (done.code, WARNING in done.stderr) == (0, False), done.stderr
    (root,) = named(endpoint, "skillgauge run")
    trials, sessions = named(endpoint, "trial "), named(endpoint, "invoke_agent ")
    assert {span["traceId"] for span in endpoint.spans} == {root["traceId"]}
    assert [len(trials), len(sessions)] == [8, 8]
    assert {span["parentSpanId"] for span in trials} == {root["spanId"]}
    assert {span["parentSpanId"] for span in sessions} == {span["spanId"] for span in trials}
    assert attributes(root) | {"skillgauge.run.state": "finished", "skillgauge.trials.passed": "5"} == attributes(root)
    verdicts = {(attributes(span)["skillgauge.arm"], attributes(span)["test.case.result.status"]) for span in trials}
    assert verdicts == {("with_skill", "pass"), ("without_skill", "pass"), ("without_skill", "fail")}
    session = attributes(sessions[0])
    assert session["gen_ai.operation.name"] == "invoke_agent"
    assert session["gen_ai.provider.name"] == session["gen_ai.agent.name"] == "mock"
    assert int(session["gen_ai.usage.input_tokens"]) > 0
    assert {record["spanId"] for record in endpoint.records} == {span["spanId"] for span in sessions}
    assert {record["eventName"] for record in endpoint.records} == {"gen_ai.evaluation.result"}
    labels = {attributes(record)["gen_ai.evaluation.score.label"] for record in endpoint.records}
    assert labels == {"passed", "failed"}


@pytest.mark.slow
def test_times_lie_within_each_other(program: Program, endpoint: Endpoint) -> None:
    """No span begins before the one above it, and none of a trial ends after it."""
    evaluate(program, endpoint.address)
    by_id = {span["spanId"]: span for span in endpoint.spans}
    assert any(span["name"].startswith("execute_tool") for span in endpoint.spans)
    assert any(span["name"].startswith("chat") for span in endpoint.spans)
    for span in endpoint.spans:
        above = by_id.get(span.get("parentSpanId", ""))
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span
        if above:
            assert int(above["startTimeUnixNano"]) <= int(span["startTimeUnixNano"]), (above, span)
            assert int(span["endTimeUnixNano"]) <= int(above["endTimeUnixNano"]), (above, span)


def test_metrics_count_what_the_report_counts(program: Program, endpoint: Endpoint) -> None:
    """Trials by verdict, tokens, durations, rates and the lift."""
    done = evaluate(program, endpoint.address, "--json")
    counts: dict[str, int] = {}
    for point in endpoint.metrics["skillgauge.trials"]["sum"]["dataPoints"]:
        verdict = attributes(point)["skillgauge.verdict"]
        counts[verdict] = counts.get(verdict, 0) + int(point["asInt"])
    assert counts == {"pass": 5, "fail": 3}
    tokens = sum(int(point["asInt"]) for point in endpoint.metrics["skillgauge.tokens"]["sum"]["dataPoints"])
    assert tokens == done.document["summary"]["spending"]["tokens"]
    (lift,) = endpoint.metrics["skillgauge.lift"]["gauge"]["dataPoints"]
    assert lift["asDouble"] == 0.75
    assert len(endpoint.metrics["skillgauge.pass_rate"]["gauge"]["dataPoints"]) == 2
    (sessions,) = endpoint.metrics["gen_ai.invoke_agent.duration"]["histogram"]["dataPoints"]
    assert int(sessions["count"]) == 8
    assert {"gen_ai.client.token.usage", "gen_ai.execute_tool.duration"} <= endpoint.metrics.keys()


@pytest.mark.slow
@pytest.mark.collector
def test_another_program_understands_it(program: Program, receiver: Receiver) -> None:
    """A receiver that knows the conventions finds the run, the model and its tokens, the metrics and the events."""
    with serving(Endpoint(receiver.address)) as endpoint:
        done = evaluate(program, endpoint.address, env={"OTEL_SERVICE_NAME": "evals-of-acme"})
    assert (done.code, WARNING in done.stderr) == (0, False), done.stderr
    assert "evals-of-acme" in json.dumps(receiver.ask("list_services"))
    (root,) = named(endpoint, "skillgauge run")
    trace = json.dumps(receiver.ask("get_trace", traceId=root["traceId"]))
    assert all(span["spanId"] in trace for span in endpoint.spans)
    assert "mock" in json.dumps(receiver.ask("list_llm_models", serviceName="evals-of-acme"))
    usage = receiver.ask("get_llm_usage", serviceName="evals-of-acme")["data"]
    sent = sum(int(attributes(span)["gen_ai.usage.input_tokens"]) for span in named(endpoint, "invoke_agent"))
    assert f": {sent}" in json.dumps(usage), usage
    metrics = json.dumps(receiver.ask("list_metrics", serviceName="evals-of-acme"))
    assert all(name in metrics for name in ("skillgauge.trials", "gen_ai.invoke_agent.duration"))
    events = json.dumps(receiver.ask("search_logs", traceId=root["traceId"]))
    assert "gen_ai.evaluation" in events


@pytest.mark.slow
def test_content_stays_here_unless_it_is_asked_for(program: Program, endpoint: Endpoint) -> None:
    """Prompts, answers, arguments and reasons are sent with `content` alone, without the secrets of the run."""
    canary = "canary-of-acme-4711"
    program.work.joinpath("leaky.yaml").write_text(f"replies: [{{text: 'the key is {canary}', run: 'echo {canary}'}}]")
    leaky = ("--set", "engines.mock.script=leaky.yaml")
    env = {"ACME_API_KEY": canary}
    evaluate(program, endpoint.address, *leaky, env=env)
    silent = json.dumps([request[2] for request in endpoint.requests])
    assert "HRB-" not in silent
    assert "the key is" not in silent
    assert "explanation" not in silent
    endpoint.requests.clear()
    evaluate(program, endpoint.address, *leaky, "--set", "extensions.otel.content=true", env=env)
    loud = json.dumps([request[2] for request in endpoint.requests])
    assert "HRB-17" in loud
    assert "the key is" in loud
    assert "gen_ai.evaluation.explanation" in loud
    assert "gen_ai.tool.call.arguments" in loud
    assert canary not in silent + loud


def test_headers_are_credentials(program: Program, endpoint: Endpoint) -> None:
    """They reach the receiver, and nothing that is written repeats them."""
    canary = "canary-of-acme-4712"
    program.work.joinpath("leaky.yaml").write_text(f"replies: [{{text: 'the key is {canary}'}}]")
    env = {"OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{canary}"}
    leaky = ("--set", "engines.mock.script=leaky.yaml", "--set", "extensions.otel.content=true", "--format", "record")
    done = evaluate(program, endpoint.address, *leaky, env=env)
    assert {headers["authorization"] for _, headers, _ in endpoint.requests} == {f"Bearer {canary}"}
    written = "".join(path.read_text() for path in program.work.joinpath("reports").iterdir() if path.is_file())
    sent = json.dumps([document for _, _, document in endpoint.requests])
    assert canary not in done.stdout + done.stderr + written + sent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "paths"),
    [
        ({}, {"/v1/traces", "/v1/metrics", "/v1/logs"}),
        ({"OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"}, {"/v1/traces"}),
        ({"OTEL_SDK_DISABLED": "true"}, set()),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, set()),
    ],
)
def test_the_standard_variables_decide(
    program: Program, endpoint: Endpoint, env: dict[str, str], paths: set[str]
) -> None:
    """Signals are left out, everything is switched off, and a protocol that is not spoken sends nothing."""
    done = evaluate(program, endpoint.address, env=env)
    assert done.code == 0
    assert {path for path, _, _ in endpoint.requests} == paths
    assert ("otel.nothing-sent" in done.stderr) is ("OTEL_EXPORTER_OTLP_PROTOCOL" in env)
    if paths == {"/v1/traces"}:
        events = {event["name"] for span in endpoint.spans for event in span.get("events", ())}
        assert events == {"gen_ai.evaluation.result"}


@pytest.mark.slow
def test_a_signal_may_have_an_address_of_its_own(program: Program, endpoint: Endpoint) -> None:
    """The signals without one are not sent."""
    evaluate(program, None, env={"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{endpoint.address}/v1/metrics"})
    assert {path for path, _, _ in endpoint.requests} == {"/v1/metrics"}


@pytest.mark.slow
def test_the_option_goes_before_the_variable(program: Program, endpoint: Endpoint) -> None:
    """An address on the command line, and one that is none."""
    option = f"extensions.otel.endpoint={endpoint.address}/"
    assert evaluate(program, "http://127.0.0.1:9", "--set", option).code == 0
    assert len(endpoint.requests) >= 3
    done = evaluate(program, None, "--set", "extensions.otel.endpoint=127.0.0.1:4318")
    assert done.code == 2
    assert "expected an address such as http://127.0.0.1:4318" in done.stderr


@pytest.mark.slow
def test_a_run_is_part_of_the_trace_of_a_job(program: Program, endpoint: Endpoint) -> None:
    """`TRACEPARENT` names the span above the run."""
    trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    evaluate(program, endpoint.address, env={"TRACEPARENT": f"00-{trace}-{span}-01"})
    (root,) = named(endpoint, "skillgauge run")
    assert (root["traceId"], root["parentSpanId"]) == (trace, span)


@pytest.mark.slow
def test_a_recording_has_no_session(program: Program, endpoint: Endpoint) -> None:
    """The times and tokens of what is played back belong to another run."""
    done = program(
        "eval", SUITE, "--replay", AGENT / "recordings", env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.address}
    )
    assert done.code == 0, done.stderr
    assert named(endpoint, "invoke_agent") == named(endpoint, "chat") == []
    trials = named(endpoint, "trial ")
    assert {attributes(span)["skillgauge.replayed"] for span in trials} == {True}
    assert {record["spanId"] for record in endpoint.records} == {span["spanId"] for span in trials}
    assert "skillgauge.tokens" not in endpoint.metrics


@pytest.mark.slow
def test_a_direct_call_is_no_session_of_an_agent(program: Program, endpoint: Endpoint) -> None:
    """A skill that a program calls has a span of its call."""
    done = program(
        "eval",
        "--skills",
        ROOT / "examples/skills/calculator",
        "--benchmark",
        "coding-easy",
        "--sandbox",
        "local",
        env={"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.address},
    )
    assert done.code == 0, done.stderr
    assert {span["name"] for span in named(endpoint, "call ")} == {"call subprocess"}
    assert named(endpoint, "invoke_agent") == []


@pytest.mark.slow
def test_without_a_receiver_the_run_is_as_it_would_be(program: Program) -> None:
    """Nothing of the outcome changes, and the user is told once."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
        gate = ("--exit-on-fail", "--min-completion", "0.9", "--json")
        alone, unheard = evaluate(program, None, *gate), evaluate(program, address, *gate)
    assert alone.code == unheard.code
    assert alone.document["summary"]["counts"] == unheard.document["summary"]["counts"]
    assert unheard.stderr.count(WARNING) == 1
    assert address in unheard.stderr
    assert "opentelemetry" not in alone.stderr + unheard.stderr


@pytest.mark.slow
def test_a_receiver_that_never_answers_is_not_waited_for(program: Program) -> None:
    """The end of the run waits as long as the option says."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = evaluate(program, address, "--set", "extensions.otel.timeout_s=0.5")
    assert done.code == 0
    assert done.stderr.count(WARNING) == 1


@pytest.mark.slow
def test_an_interrupted_run_is_sent(program: Program, endpoint: Endpoint) -> None:
    """Ctrl-C ends it with code 130, and what is known of it arrives."""
    program.work.joinpath("slow.yaml").write_text(
        "replies: [{match: 'HRB-17', text: quick}, {run: 'touch $OLDPWD/x; sleep 60'}]"
    )
    command = [
        PROGRAM,
        "eval",
        SUITE,
        *MOCK,
        "--store",
        "none",
        "--set",
        "engines.mock.script=slow.yaml",
        "--log-json",
        "-v",
    ]
    running = subprocess.Popen(
        command,
        cwd=program.work,
        env={**program.environment, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint.address},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    lines = []
    for line in running.stderr:
        lines.append(line)
        if "trial.finished" in line:
            break
    running.send_signal(signal.SIGINT)
    _, rest = running.communicate(timeout=TIME_LIMIT_S)
    assert running.returncode == 130, "".join(lines) + rest
    (root,) = named(endpoint, "skillgauge run")
    assert attributes(root)["skillgauge.run.state"] == "interrupted"
    assert len(named(endpoint, "trial ")) >= 1


@pytest.mark.slow
def test_nothing_is_imported_without_an_address(program: Program) -> None:
    """A run that sends nothing does not load OpenTelemetry's SDK."""
    code = (
        "import sys; from skillgauge.__main__ import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "sys.exit('opentelemetry.sdk' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "eval", str(SUITE), *MOCK, "--store", "none"]
    done = subprocess.run(
        command, cwd=program.work, env=dict(program.environment), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 4 cases passed" in done.stdout
