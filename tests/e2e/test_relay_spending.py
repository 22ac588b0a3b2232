"""What an agent's shell asks of the model behind its program's back, with a real program in a strict sandbox.

Finding: T-S14.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from skillgauge_testkit import ModelReply, ModelRequest, ModelServer, in_turns, run_shell
from skillgauge_testkit.program import Program

KEY = "sk-canary-of-the-relay-0123456789"
ASKS = """
import json, os, urllib.error, urllib.request
base, told = os.environ["ANTHROPIC_BASE_URL"], []
body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "behind the back"}]}
asks = [("POST", "/v1/messages")] * 3
asks += [("DELETE", "/v1/files/a"), ("POST", "/v1/messages/batches"), ("TRACE", "/v1/messages")]
for method, path in asks:
    data = json.dumps(body).encode() if method == "POST" else None
    request = urllib.request.Request(base + path, data, {"content-type": "application/json"}, method=method)
    try:
        told.append(urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        told.append(error.code)
open("told.json", "w").write(json.dumps(told))
"""


@pytest.mark.e2e
@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
def test_what_the_shell_spends_is_counted(program: Program, work: Path, agent_program: Callable[[str], Path]) -> None:
    """Its requests are in the session's tokens and hold a budget; what no program asks is refused."""
    folder = work / "adv"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: adv\ndescription: Does things.\n---\nDo it.\n")
    expected = "[200, 200, 200, 403, 403, 403]"
    check = {"text": "v", "type": "command", "value": f'test "$(cat told.json)" = "{expected}"'}
    evals = [{"id": number, "prompt": "go", "assertions": [check]} for number in range(6)]
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "adv", "evals": evals}))

    def answer(request: ModelRequest) -> ModelReply:
        if request.body["messages"][-1]["content"] == "behind the back":
            return ModelReply("here")
        ask = ModelReply("I ask.", tools=[run_shell(f"python3 -c '{ASKS}'")])
        return ask if request.turn == 0 else ModelReply("done")

    with ModelServer(answer) as server:
        command = ["eval", "adv", "--engine", "claude-code", "--model", "claude-sonnet-4-5", "--no-baseline", "--json"]
        command += ["--set", f"engines.claude-code.base_url={server.url}", "--concurrency", "1"]
        command += ["--set", f"engines.claude-code.program={agent_program('claude')}", "--store", "none"]
        done = program.process(*command, "--case", "0", env={"ANTHROPIC_API_KEY": KEY}, timeout_s=120)
        paths = {request.path.partition("?")[0] for request in server.requests}
        (result,) = done.document["results"]
        used = result["execution"]["usage"]["total_tokens"]
        limit = ("--max-tokens", str(used * 2))
        stopped = program.process(*command, *limit, env={"ANTHROPIC_API_KEY": KEY}, timeout_s=300)
    assert result["verdict"] == "pass", done.stdout
    assert any("went through the relay" in note for note in result["execution"]["notes"])
    assert paths == {"/v1/messages"}
    assert stopped.code == 4
    assert KEY not in done.stdout + done.stderr


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.usefixtures("strongest")
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        pytest.param("cline", "CLINE_API_KEY", marks=pytest.mark.engine),
        pytest.param("copilot", "COPILOT_PROVIDER_API_KEY", marks=pytest.mark.engine),
        ("vibe-acp", "MISTRAL_API_KEY"),  # not on every machine: `make vibe`
    ],
)
def test_every_kind_is_known_of_a_program_that_does_not_tell_thinking(
    program: Program, work: Path, agent_program: Callable[[str], Path], name: str, variable: str
) -> None:
    """R3-E5: its own counts and the relay's agree with the server's, and the relay tells thinking apart."""
    folder = work / "greet"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n")
    case = {"id": 1, "prompt": "go", "assertions": [{"text": "done", "type": "contains", "value": "Done"}]}
    (folder / "evals/evals.json").write_text(json.dumps({"skill_name": "greet", "evals": [case]}))
    script = in_turns(
        ModelReply("", 100, 27, cache_read_tokens=900, thinking_tokens=7, tools=[run_shell("echo hi")]),
        ModelReply("Done.", 50, 16, thinking_tokens=5),
    )
    with ModelServer(script) as server:
        command = ["eval", "greet", "--engine", f"acp:{name.removesuffix('-acp')}", "--model", "gpt-5.5", "--json"]
        command += ["--set", f"engines.acp.base_url={server.url}/v1", "--store", "none", "--no-baseline"]
        command += ["--set", f"engines.acp.program={agent_program(name)}"]
        done = program.process(*command, env={variable: KEY}, timeout_s=120)
        (count,) = (session.tokens for session in server.sessions.values())
    (result,) = done.document["results"]
    assert result["verdict"] == "pass", done.stderr
    usage = result["execution"]["usage"]
    told = {kind: usage.get(f"{kind}_tokens") for kind in ("input", "cache_read", "output", "reasoning")}
    assert told == {
        "input": count.input,
        "cache_read": count.cache_read,
        "output": count.output,
        "reasoning": count.thinking,
    }
