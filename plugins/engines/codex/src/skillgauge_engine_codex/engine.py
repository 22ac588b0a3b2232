"""The start of Codex, and the place of its session's record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import JsonValue, Problem, RunRequest, Usage, Workspace, host_environment, thaw
from skillgauge_agent_programs.accounts import Transcript
from skillgauge_agent_programs.credentials import find_key
from skillgauge_agent_programs.engine import Access, Launch, ProgramEngine, Service
from skillgauge_agent_programs.homes import SessionFile, files_in, sizes_in
from skillgauge_agent_programs.programs import AgentProgram, passed_environment

from .installing import install
from .options import (
    ACCESS_TOKEN,
    AZURE_ENDPOINT,
    AZURE_KEY,
    AZURE_PREFIX,
    BASE_URL,
    KEYS,
    LOGIN_FILE,
    CodexOptions,
    SandboxMode,
)
from .transcript import CodexTranscript

_QUIET = (
    *("-c", "analytics.enabled=false"),
    *("-c", "check_for_update_on_startup=false"),
    *("-c", "skills.bundled.enabled=false"),
    *("-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
    *("--disable", "apps"),
    *("--disable", "shell_snapshot"),
    *("--disable", "plugins"),
)
"""Without these it asks hosts that no session needs, offers skills of its own beside those under test, lets a shell
write down its environment, with the key in it, and has its commands share /tmp, where its sandbox makes folders such as
`.git` for as long as one runs: another session whose workspace lies below would find them above itself."""

_WITHOUT_TOOLS = (
    *("-s", SandboxMode.READ_ONLY),
    *("-c", 'web_search="disabled"'),
    *("-c", "include_permissions_instructions=false"),
    *("-c", "include_environment_context=false"),
    *(
        word
        for feature in (
            "goals",
            "image_generation",
            "multi_agent",
            "shell_tool",
            "sleep_tool",
            "unified_exec",
            "view_image",
        )
        for word in ("--disable", feature)
    ),
)
"""Two tools cannot be switched off: to ask the user, which works in another mode only, and to patch files, which the
read-only sandbox refuses."""


_SESSION_FILES = ".codex/sessions/*/*/*/rollout-*.jsonl"


class CodexEngine(ProgramEngine):
    """Runs `codex exec` in the workspace.

    The program's stream loses tool calls; the session file in its private home does not, so that is what counts.
    """

    name = "codex"
    distribution = "skillgauge-engine-codex"
    program = AgentProgram(command="codex", install="npm install -g @openai/codex@0.171.0", tested=("0.171.0",))

    def __init__(self, options: CodexOptions) -> None:
        super().__init__(options)
        self._codex = options

    def service(self, model: str | None) -> Service:
        """OpenAI's API, a server that speaks its language, or for models `azure/...` one of Azure."""
        if self._codex.base_url is not None:
            return Service("openai", self._codex.base_url, KEYS, needs_key=False)
        if _is_azure(model):
            endpoint = host_environment().get(AZURE_ENDPOINT, "").strip().rstrip("/")
            suffix = "" if endpoint.endswith("/openai/v1") else "/openai/v1"
            return Service("azure", f"{endpoint}{suffix}", (AZURE_KEY,))
        is_key = find_key(KEYS) is not None  # an access token is exchanged for others, so no header carries it
        own = Service("openai", BASE_URL, (*KEYS, ACCESS_TOKEN), (LOGIN_FILE,), is_relayable=is_key)
        return self.at_gateway(own, KEYS)

    def further_problems(self) -> tuple[Problem, ...]:
        """A model of Azure without the address of its service."""
        if not any(map(_is_azure, self.models)) or self._codex.base_url is not None:
            return ()
        endpoint = host_environment().get(AZURE_ENDPOINT, "").strip()
        if endpoint.startswith(("https://", "http://")):
            return ()
        message = f"engine 'codex' is to ask a model of Azure, and {AZURE_ENDPOINT} is no address"
        hint = f"Set {AZURE_ENDPOINT}, for example to https://NAME.openai.azure.com."
        return (Problem("engine.no-credentials", message, hint=hint),)

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """The prompt comes by stdin, where it may be of any length and begin with a dash."""
        home, temporary = workspace.home / ".codex", workspace.home / "tmp"
        for folder in (home, temporary):
            folder.mkdir(mode=0o700, exist_ok=True)
        model = self.model(request.model)
        arguments = ["exec", "--json", "--skip-git-repo-check"]
        if model:
            arguments += ["-m", model.removeprefix(AZURE_PREFIX)]
        arguments += [*_QUIET, *self._provider(access)]
        for key, value in self._codex.config.items():
            if self._codex.instructions is None or key.startswith("model"):  # others could give it tools again
                arguments += ["-c", f"{key}={_toml(value)}"]
        # Below TMPDIR its home would be taken for a temporary one, and no command would run in its sandbox.
        environment = {"CODEX_HOME": str(home), "TMPDIR": str(temporary)}
        arguments += self._powers(request, workspace.home, environment)
        continued = ("resume", request.continues) if request.continues is not None else ()
        return Launch((*arguments, *continued, "-"), environment, request.prompt.encode("utf-8", "replace"))

    def _powers(self, request: RunRequest, home: Path, environment: dict[str, str]) -> list[str]:
        """Return the permissions of the agent; none where instructions take the place of its own.

        Args:
            request: the session.
            home: its private home.
            environment: receives variables that what is installed needs.
        """
        if self._codex.instructions is not None:
            instructions_file = home / ".codex/instructions.md"
            instructions_file.write_text(self._codex.instructions, encoding="utf-8")
            return [*_WITHOUT_TOOLS, "-c", f"model_instructions_file={_toml(str(instructions_file))}"]
        installed = install(request, home, self._codex.hooks, passed_environment(self._codex.pass_env))
        environment.update(installed.environment)
        arguments = ["-s", self._codex.sandbox]
        for key, value in installed.settings.items():
            arguments += ["-c", f"{key}={_toml(value)}"]
        # Hooks that nobody confirmed would be passed over.
        trusted = (home / ".codex/hooks.json").exists()
        return [*arguments, "--dangerously-bypass-hook-trust"] if trusted else arguments

    def transcript(self, request: RunRequest) -> Transcript:
        """Reads the lines of `--json`, and later the session file."""
        return CodexTranscript(
            tuple(skill.ref.name for skill in request.skills),
            patience=self._codex.api_retries,
            max_turns=request.limits.max_turns,
        )

    def pass_over(self, home: Path, transcript: Transcript) -> None:
        """Note how long the session files are: the program appends each turn to them."""
        assert isinstance(transcript, CodexTranscript)
        transcript.passed_over = sizes_in(home, _SESSION_FILES)

    def read_home(self, home: Path, transcript: Transcript) -> None:
        """Read the session file, which has every tool call."""
        assert isinstance(transcript, CodexTranscript)
        files = files_in(home, _SESSION_FILES)
        own = next((path for path in files if path.stem.endswith(transcript.session_id or "")), None)
        for path in files:
            start = transcript.passed_over.get(path, 0)
            earlier, file = SessionFile(path, most=start), SessionFile(path, start)
            if path != own:
                transcript.read_other(file.records(), earlier.records())
                continue
            for record in earlier.records():
                transcript.read_rollout(record)
            transcript.begin_turn()
            for record in file.records():
                transcript.read_rollout(record)
            transcript.end_rollout(is_cut=file.is_cut)

    def usage_so_far(self, home: Path, transcript: Transcript) -> Usage | None:
        """Read the files of all sessions: the stream names no tokens before the end."""
        assert isinstance(transcript, CodexTranscript)
        seen = CodexTranscript()
        for path in files_in(home, _SESSION_FILES):
            start = transcript.passed_over.get(path, 0)
            seen.read_other(SessionFile(path, start).records(), SessionFile(path, most=start).records())
        return seen.recorded_usage

    def _provider(self, access: Access) -> list[str]:
        """Settings that say where the model is; a login and an access token know it themselves."""
        if access.key is None or access.key.variable == ACCESS_TOKEN:
            return []
        provider: JsonValue = {
            "name": "skillgauge",
            "base_url": access.address,
            "env_key": access.key.variable,
            "wire_api": "responses",
            "request_max_retries": 0,  # the two multiply, and a stream is begun again for a refused request as well
            "stream_max_retries": self._codex.api_retries,
        }
        exclude = f"shell_environment_policy.exclude={_toml((access.key.variable,))}"
        return ["-c", "model_provider=skillgauge", "-c", f"model_providers.skillgauge={_toml(provider)}", "-c", exclude]


def _is_azure(model: str | None) -> bool:
    return model is not None and model.startswith(AZURE_PREFIX)


def _toml(value: JsonValue) -> str:
    """A value as TOML writes it; JSON differs from it in tables only."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(key)}={_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ",".join(map(_toml, value)) + "]"
    return json.dumps(thaw(value), ensure_ascii=False)
