"""Sessions of the real `codex` in a workspace of its own, on scripted models, with made-up keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skillgauge_engine_codex.engine import CodexEngine
from skillgauge_engine_codex.options import ACCESS_TOKEN, AZURE_ENDPOINT, AZURE_KEY, KEYS, LOGIN_FILE, CodexOptions
from skillgauge_testkit import ModelReply, ModelServer
from skillgauge_testkit.agent_sessions import KEY, LIMITS, Given, Played
from skillgauge_testkit.agent_sessions import play as play_session

Script = Iterable[ModelReply] | Callable[..., ModelReply]
Play = Callable[..., Played]


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own and no key but a made-up one; a proxy that must not be used."""
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in (*KEYS, ACCESS_TOKEN, AZURE_KEY, AZURE_ENDPOINT):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")


@pytest.fixture
def log_in(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a credential file into the user's home."""

    def write(content: str) -> Path:
        path = tmp_path / "user" / LOGIN_FILE
        path.parent.mkdir(parents=True)
        path.write_text(content)
        return path

    return write


@pytest.fixture
def play(agent_program: Callable[[str], Path]) -> Play:
    """Plays one session to its end; what is no option of the engine is said of the session."""
    program = str(agent_program("codex"))

    def run(
        script: Script,
        prompt: str = "Say hello to Ann",
        *,
        model: str | None = "gpt-5.5",
        is_relayed: bool = False,
        at_server: bool = True,
        prepare: Callable[[ModelServer], Mapping[str, Any]] = lambda _server: {},
        **given: Any,
    ) -> Played:
        found = {name: given.pop(name) for name in ("skills", "text", "installs", "agent") if name in given}
        limits = given.pop("limits", LIMITS)
        with ModelServer(script) as server:
            address = {"base_url": f"{server.url}/v1"} if at_server and not is_relayed else {}
            chosen = {"program": program, "api_retries": 0, **address, **given, **prepare(server)}
            engine = CodexEngine(CodexOptions(**chosen))
            routes = {"openai": f"{server.url}/v1"} if is_relayed else {}
            return play_session(
                engine, server, prompt, Given(".agents/skills", routes=routes, **found), model=model, limits=limits
            )

    return run
