"""Codex behind its adapter `codex-acp`."""

from __future__ import annotations

import re
from collections.abc import Collection

from skillgauge.api import Failure, FailureClass, JsonObject, JsonValue, RunRequest, Usage, Workspace, canonical_json
from skillgauge_agent_programs.engine import Access, Launch
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.json_lines import parse_line, text_at
from skillgauge_agent_programs.skills import EXPLICIT

from .agents import CODEX
from .connection import RemoteError
from .engine import AcpEngine, program_of
from .reading import Reading

_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
_URL = re.compile(r",? url: \S+")
_OWN_WORDS = (
    ("reason: content_filter", FailureClass.REFUSED),
    ("quota exceeded", FailureClass.BUDGET),
    ("high demand", FailureClass.SERVER),  # of a status 500 it says nothing else
    ("stream disconnected before completion", FailureClass.NETWORK),
)
_PROVIDER = "skillgauge"


class CodexEngine(AcpEngine):
    """Starts the adapter, which brings its own Codex."""

    name = CODEX.name
    agent = CODEX
    program = program_of(CODEX)

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """All by the environment."""
        home, temporary = workspace.home / ".codex", workspace.home / "tmp"
        for folder in (home, temporary):
            folder.mkdir(mode=0o700, exist_ok=True)
        config: dict[str, JsonValue] = {
            "model": self.model(request.model),
            "analytics": {"enabled": False},
            "check_for_update_on_startup": False,
            "features": {"apps": False, "plugins": False, "shell_snapshot": False},
            "skills": {"bundled": {"enabled": False}},
            # In /tmp its sandbox would make folders such as `.git`, which sessions beside it would find above them.
            "sandbox_workspace_write": {"network_access": False, "exclude_slash_tmp": True},
        }
        if access.key:
            config |= {"model_provider": _PROVIDER, "model_providers": {_PROVIDER: self._provider(access)}}
            config["shell_environment_policy"] = {"exclude": (access.key.variable,)}
        # Below TMPDIR its home would be taken for a temporary one, and no command would run in its sandbox.
        environment = {"CODEX_HOME": str(home), "TMPDIR": str(temporary), "NO_BROWSER": "1"}
        environment["CODEX_CONFIG"] = canonical_json(config)
        return Launch((), environment)

    def reading(self, request: RunRequest) -> Reading:
        """Reads its trouble, too."""
        return CodexReading(request.prompt, [skill.ref.name for skill in request.skills])

    def _provider(self, access: Access) -> JsonObject:
        return {
            "name": _PROVIDER,
            "base_url": access.address,
            "env_key": access.key.variable if access.key else "",
            "wire_api": "responses",
            "request_max_retries": 0,  # the two multiply, and a stream is begun again for a refused request as well
            "stream_max_retries": self.options.api_retries,
        }


class CodexReading(Reading):
    """Finds out that a session failed: the adapter says that it ended well, and gives the reason as a message.

    For a session without a title the adapter holds another one, with all tools, and tells nobody what it has used.
    """

    title = "session"

    def __init__(self, prompt: str, skills: Collection[str]) -> None:
        super().__init__(prompt, skills)
        self._is_failing = False
        self._reason = ""
        for name in skills:
            if re.search(rf"(?<!\S)\${re.escape(name)}(?![\w-])", prompt):  # puts the skill into the request
                self.fired.add(name, EXPLICIT)

    def updated(self, update: JsonObject) -> None:
        """Notice the state of trouble."""
        status = text_at(update, "_meta", "codex", "threadStatus", "type")
        if status is not None:
            self._is_failing = status == "systemError"

    def is_own_words(self, update: JsonObject) -> bool:
        """Tell whether a message in that state belongs to none of the model's."""
        if not self._is_failing or update.get("messageId") is not None:
            return False
        self._reason += text_at(update, "content", "text") or ""
        return True

    def usage_of(self, answer: JsonObject, cost_usd: float | None) -> Usage | None:
        """Unknown if the adapter may have asked beside the session."""
        return super().usage_of(answer, cost_usd) if self.is_titled else None

    def own_failure(self) -> Failure | None:
        """The reason of a session that ended in trouble."""
        return _failure_of(self._reason) if self._is_failing else None

    def failure_of(self, error: RemoteError) -> Failure:
        """As for the reasons that it gives as a message."""
        kind = super().failure_of(error)
        is_unclear = kind.failure_class is FailureClass.PROTOCOL
        return _failure_of(text_at(error.data, "message") or str(error)) if is_unclear else kind


def _failure_of(reason: str) -> Failure:
    told = _URL.sub("", reason).strip() or "the program reported trouble without a reason"
    if status := _STATUS.search(told):
        return failed(class_of_status(int(status[1]), told), told)
    if answer := parse_line(told.encode("utf-8", "replace")):  # of a status 400 it hands on the body
        said = text_at(answer, "error", "message") or text_at(answer, "message") or told
        return failed(class_of_status(400, told), said)
    kind = next((kind for words, kind in _OWN_WORDS if words in told.lower()), None)
    return failed(kind or class_of_text(told) or FailureClass.CRASH, told)
