"""The start of Claude Code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from skillgauge.api import (
    JsonObject,
    Problem,
    RunRequest,
    Severity,
    Usage,
    Workspace,
    canonical_json,
    host_environment,
)
from skillgauge_agent_programs.accounts import Transcript
from skillgauge_agent_programs.claude.skills import SKILL_TOOL
from skillgauge_agent_programs.claude.variables import ADDRESS_VARIABLES, DIVERTING_VARIABLES
from skillgauge_agent_programs.credentials import KEY_DESCRIPTOR, Key, Login
from skillgauge_agent_programs.engine import Access, Launch, ProgramEngine, Service
from skillgauge_agent_programs.homes import SessionFile, files_in, lines_of, sizes_in
from skillgauge_agent_programs.installs import HISTORY
from skillgauge_agent_programs.json_lines import parse_line
from skillgauge_agent_programs.programs import AgentProgram
from skillgauge_mcp_servers.names import allowed_servers

from .clouds import CLOUDS, FOUNDRY_KEY, GATEWAY_TOKEN, MODEL, SUPPORTED, AtCloud
from .installing import install
from .options import BASE_URL, KEY, LOGIN_FILE, SUBSCRIPTION, VARIABLES, ClaudeCodeOptions, PermissionMode
from .transcript import ClaudeTranscript

_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}
_BY_DESCRIPTOR = {KEY: "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", SUBSCRIPTION: "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR"}
"""Variable of a key -> the one that tells where to read it. What is in its environment the program passes on to the
commands that it runs; its own switch against that needs a sandbox of its own and another permission mode."""

SESSION_FILES = ".claude/projects/**/*.jsonl"
_NONE = ("--tools", "")


class ClaudeCodeEngine(ProgramEngine):
    """Runs `claude -p` in the workspace.

    Skills that come with the program are off, so that they do not compete with those under test; settings and skills of
    the user are out of reach in the private home; those of the workspace count.
    """

    name = "claude-code"
    distribution = "skillgauge-engine-claude-code"
    program = AgentProgram(
        command="claude", install="npm install -g @anthropic-ai/claude-code@2.1.332", tested=("2.1.332",)
    )
    api = Service("anthropic", BASE_URL, VARIABLES, (LOGIN_FILE,))
    address_variables = ADDRESS_VARIABLES
    diverting_variables = tuple(name for name in DIVERTING_VARIABLES if name not in SUPPORTED)

    def __init__(self, options: ClaudeCodeOptions) -> None:
        super().__init__(options)
        self._claude = options
        self._at_cloud = options.at_cloud()

    def service(self, model: str | None) -> Service:
        """The cloud that the environment names, unless an option says where to ask; else as every program."""
        at_cloud = self._at_cloud
        if at_cloud is None:
            return super().service(model)
        return Service(
            at_cloud.cloud.name,
            at_cloud.address,
            at_cloud.tokens,
            needs_key=not at_cloud.is_gateway,
            is_relayable=at_cloud.has_token,
            requests=at_cloud.cloud.requests,
        )

    def settings(self) -> JsonObject:
        """Those of every program, and the cloud: the same name may be another model there."""
        settings = super().settings()
        if self._at_cloud is None:
            return settings
        return {**settings, "cloud": self._at_cloud.cloud.name, "base_url": self._at_cloud.address}

    def model(self, asked: str | None) -> str | None:
        """The model that sessions ask for; a cloud has names of its own, so that the default is none there."""
        if asked or self._at_cloud is None or "model" in self._claude.model_fields_set:
            return super().model(asked)
        return host_environment().get(MODEL) or None

    def logins(self, service: Service) -> tuple[Login, ...]:
        """Files with credentials of the cloud; else as every program."""
        if self._at_cloud is None:
            return super().logins(service)
        return tuple(Login(place, path) for place, path in self._at_cloud.files.items())

    def further_secrets(self) -> Mapping[str, str]:
        """Return what authenticates at the cloud, in variables of the program."""
        environment = host_environment()
        names = self._at_cloud.secrets if self._at_cloud else ()
        return {name: environment[name] for name in names if name in environment}

    def key_headers(self, key: Key) -> Mapping[str, str]:
        """As the program itself sends it."""
        is_plain = key.variable in (KEY, FOUNDRY_KEY)
        return {"x-api-key": key.value} if is_plain else {"authorization": f"Bearer {key.value}"}

    def missing(self, service: Service) -> tuple[Problem, ...]:
        """Report everything that a cloud needs and does not have, in one message; else as every program."""
        return super().missing(service) if self._at_cloud is None else self._missing_at(self._at_cloud, service)

    def further_problems(self) -> tuple[Problem, ...]:
        """A mode that the program refuses, and a cloud's model that is not named."""
        problems = []
        if self._at_cloud and None in self.models:
            title = self._at_cloud.cloud.title
            message = f"engine {self.name!r} does not know which model to ask at {title}, which has names of its own"
            problems.append(Problem("engine.no-model", message, hint=f"Name it with --model, or set {MODEL}."))
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        if self._claude.permission_mode is PermissionMode.BYPASS and is_root:
            message = "claude refuses permission mode 'bypassPermissions' to root"
            hint = "Use permission_mode=acceptEdits and name in allowed_tools what else the agent may do."
            problems.append(Problem("engine.options", message, hint=hint))
        return tuple(problems)

    def _missing_at(self, at_cloud: AtCloud, service: Service) -> tuple[Problem, ...]:
        cloud, option = at_cloud.cloud, f"--set engines.{self.name}.base_url=URL"
        where = f"engine {self.name!r} asks {cloud.title}, as {cloud.flag} says"
        hint = f"Set what is missing, or unset {cloud.flag}, or say which address is to be asked: {option}."
        if at_cloud.others:
            names = ", ".join(one.flag for one in (cloud, *at_cloud.others))
            message = f"engine {self.name!r} can ask one cloud, and {names} name several"
            return (Problem("engine.clouds", message, hint="Unset all but one of them."),)
        if missing := at_cloud.missing():
            return (Problem("engine.no-credentials", f"{where}, and lacks {'; '.join(missing)}", hint=hint),)
        if odd := at_cloud.odd():
            return (Problem("engine.cloud", f"{where}, and {', '.join(odd)} cannot be part of its address", hint=hint),)
        if at_cloud.has_token:
            return self._unusable(service)
        message = (
            f"{where}, and authenticates there by itself, with credentials that the agent's commands can read: what "
            "the service says of pauses and tokens is known only as far as the program tells it"
        )
        hint = f"With a token, in {' or '.join(cloud.tokens)}, the credentials stay outside."
        return (Problem("engine.cloud-unseen", message, severity=Severity.WARNING, hint=hint),)

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """The prompt comes by stdin, where it may be of any length and begin with a dash."""
        options = self._claude
        # Without a model the program looks for one by the network, and may wait there for ever.
        arguments = ["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"]
        arguments += ["--model", self.model(request.model) or "", "--setting-sources"]
        # What is installed lies in the private configuration; without it there is nothing that could count.
        arguments += ["user,project" if request.installs else "project"]
        if request.continues is not None and not self.has_past(request):
            arguments += ["--resume", request.continues]
        if request.limits.max_turns is not None:
            arguments += ["--max-turns", str(request.limits.max_turns)]
        arguments += self._powers(request, workspace.home)
        environment = _QUIET | {
            "CLAUDE_CONFIG_DIR": str(workspace.home / ".claude"),
            "CLAUDE_CODE_DISABLE_BUNDLED_SKILLS": "1",
            "CLAUDE_CODE_MAX_RETRIES": str(options.api_retries),
        }
        environment |= self._way(workspace.home, access)
        prompt, key = request.prompt.encode("utf-8", "replace"), access.key
        if key and not access.is_relayed and (by_descriptor := _BY_DESCRIPTOR.get(key.variable)):
            environment[by_descriptor] = str(KEY_DESCRIPTOR)
            return Launch(tuple(arguments), environment, prompt, key)
        return Launch(tuple(arguments), environment, prompt)

    def _way(self, home: Path, access: Access) -> Mapping[str, str]:
        """Return the variables by which the program finds its API."""
        at_cloud, key = self._at_cloud, access.key
        if at_cloud is None:
            off = {cloud.flag: "0" for cloud in CLOUDS if cloud.flag in self._claude.pass_env}
            return {**off, "ANTHROPIC_BASE_URL": access.address} if self.is_elsewhere(access) else {}
        variables = {**at_cloud.handed_on(home)}
        if access.is_relayed or at_cloud.named_address:
            variables[at_cloud.cloud.address_variable] = access.address
        if key and key.variable not in at_cloud.cloud.read_by_program:
            variables[GATEWAY_TOKEN] = key.value
        return variables

    def _powers(self, request: RunRequest, home: Path) -> list[str]:
        """Return the permissions of the agent; none where instructions take the place of its own."""
        options = self._claude
        if options.instructions is not None:
            return ["--system-prompt", options.instructions, "--strict-mcp-config", "--disable-slash-commands", *_NONE]
        installed = install(request, home, options.settings)
        arguments = ["--permission-mode", options.permission_mode, *installed.arguments]
        if installed.settings:
            arguments += ["--settings", canonical_json(installed.settings)]
        # A skill that asks for tools or hooks in its front matter is not loaded unasked, in any permission mode. The
        # user who narrows the tools of the agent does not mean that the skill under test cannot be used.
        allowed = dict.fromkeys((*options.allowed_tools, *installed.allowed_tools, SKILL_TOOL))
        return [*arguments, "--allowedTools", *allowed]  # the last one, since it takes all that follows

    def has_past(self, request: RunRequest) -> bool:
        """Tell whether the session goes on with one that its case brings."""
        return any(install.kind == HISTORY for install in request.installs)

    def pass_over(self, home: Path, transcript: Transcript) -> None:
        """Note how long the session files are, and what was used: the program appends each turn and adds it up."""
        assert isinstance(transcript, ClaudeTranscript)
        transcript.passed_over = sizes_in(home, SESSION_FILES)
        for path in transcript.passed_over:
            for record in SessionFile(path).records():
                transcript.read_earlier_record(record)

    def read_home(self, home: Path, transcript: Transcript) -> None:
        """Read the session file and those of sub-agents, which only the program is meant to write."""
        assert isinstance(transcript, ClaudeTranscript)
        for path in files_in(home, SESSION_FILES):
            is_of_session = path.stem == transcript.session_id
            read = transcript.read_record if is_of_session else transcript.read_other_record
            file = SessionFile(path, transcript.passed_over.get(path, 0))
            for record in file.records():
                read(record)
            if is_of_session:
                transcript.end_record(is_cut=file.is_cut)

    def usage_so_far(self, home: Path, transcript: Transcript) -> Usage | None:
        """Read the files of the session and of its sub-agents: the stream names each answer's tokens too early."""
        assert isinstance(transcript, ClaudeTranscript)
        answers = transcript.answers.copy()
        for path in files_in(home, SESSION_FILES):
            start = transcript.passed_over.get(path, 0)
            for record in filter(None, map(parse_line, lines_of(path, start=start))):
                answers.take(record)
        return answers.usage

    def transcript(self, request: RunRequest) -> Transcript:
        """Reads the lines of `stream-json`."""
        skills = tuple(skill.ref.name for skill in request.skills)
        return ClaudeTranscript(request.prompt, skills, allowed_servers(request.installs))
