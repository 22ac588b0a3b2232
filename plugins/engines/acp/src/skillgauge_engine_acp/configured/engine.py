"""Talks to an agent as its description says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from skillgauge.api import (
    Failure,
    FailureClass,
    FiredSkill,
    JsonObject,
    JsonValue,
    ModelRoute,
    Problem,
    RunRequest,
    Usage,
    Workspace,
    canonical_json,
    host_environment,
    thaw,
)
from skillgauge_agent_programs.accounts import Transcript
from skillgauge_agent_programs.engine import Access, Launch, Service
from skillgauge_agent_programs.failures import class_of_status, class_of_text, failed
from skillgauge_agent_programs.json_lines import dig, text_at
from skillgauge_agent_programs.programs import AgentProgram, Found, find_program
from skillgauge_agent_programs.skills import INVOKED

from ..agents import Agent
from ..calls import COMPLETED, FAILED, ToolCall
from ..connection import RemoteError
from ..engine import AcpEngine
from ..reading import Reading
from ..transcript import AcpTranscript
from .options import ENGINE, ConfiguredOptions, UsageRule
from .presets import PRESETS
from .usage import added, tokens_of

_ROUTE = "agent"
_MODEL = "{model}"
_STATUS = re.compile(r"(?<![\w.:])[45]\d\d(?![\w:]|\.\d)")
"""An HTTP status in a sentence, and no part of an address or of a longer number."""
_TOOL_NAMES = (("_meta", "toolName"), ("_meta", "tool_name"), ("title",))
"""Places in which agents name the tool of a call, the protocol having no place for it; the title comes last."""


class ConfiguredEngine(AcpEngine):
    """Starts the program that a description names.

    Args:
        options: the description.
    """

    name = ENGINE

    def __init__(self, options: ConfiguredOptions) -> None:
        super().__init__(options)
        self._description = options
        self.name = f"{ENGINE}:{options.agent}" if options.agent else ENGINE
        self.program = _program(options)
        self.agent = Agent(
            name=self.name,
            engine="",
            summary="",
            command=options.argv[0],
            package="",
            version="",
            route=_ROUTE,
            address=options.base_url or "",
            variables=(options.key_variable,) if options.key_variable else (),
            address_variables=(),
            login_files=(),
            login_hosts=options.hosts,
            skill_folder=options.skill_folder or "",
            inherited=(),
            model="",
            model_patterns=(),
            tells=frozenset(),
        )

    @property
    def found(self) -> Found:
        """The program on this machine."""
        argv = self._description.version_argv
        program = find_program(self._options.program or self._description.argv[0])
        if not argv or program.path is None:
            return program
        return Found(program.path, find_program(argv[0], argv[1:]).version)

    def service(self, model: str | None) -> Service:
        """The server at `base_url`; without one the program knows by itself whom to ask."""
        return Service(_ROUTE, self._description.base_url or "", self.agent.variables, needs_key=False)

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """The server at `base_url`, if there is one."""
        return super().routes(model) if self._description.base_url else ()

    def model(self, asked: str | None) -> str | None:
        """The model that sessions ask for; unknown if nobody names one."""
        return asked or self._options.model

    def settings(self) -> JsonObject:
        """Return the description of the agent; other agents are no part of it, nor files that are not read."""
        left_out = ["agents", "agent", "hosts"]
        if self._description.kept_usage is None:
            left_out += ["usage_files", "usage_table", "usage_keys", "usage_where"]
        return {key: value for key, value in super().settings().items() if key not in left_out}

    def further_problems(self) -> tuple[Problem, ...]:
        """Report programs that are not there, and a model that the description needs and nobody names."""
        path = host_environment().get("PATH")
        problems = []
        for name in self._description.needs:
            if shutil.which(name, path=path) is None:
                message = f"engine {self.name!r} needs the program {name!r}, which is not there"
                problems.append(Problem("engine.no-program", message, hint="Install it."))
        if self._names_model and any(self.model(asked) is None for asked in self.models):
            message = f"the description of engine {self.name!r} names a model, and none is given"
            problems.append(Problem("engine.no-model", message, hint="Name it with --model."))
        return tuple(problems)

    @property
    def _names_model(self) -> bool:
        """Tell whether the model stands in a command line, a variable or a file."""
        described = (self._description.argv, self._description.env, self._description.files)
        return any(_MODEL in canonical_json(thaw(part)) for part in described)

    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """Fill the templates, and write the files into the home."""
        values = {
            _MODEL: self.model(request.model) or "",
            "{address}": access.address,
            "{home}": str(workspace.home),
            "{workspace}": str(workspace.root),
        }
        for name, content in self._description.files.items():
            path = workspace.home / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, content, values)
        environment = {name: _filled(str(value), values) for name, value in self._description.env.items()}
        return Launch(tuple(_filled(word, values) for word in self._description.argv[1:]), environment)

    def usage_so_far(self, home: Path, transcript: Transcript) -> Usage | None:
        """Read the tokens of messages, and those that the program has written down."""
        assert isinstance(transcript, AcpTranscript)
        assert isinstance(transcript.reading, ConfiguredReading)
        transcript.reading.read_home(home)
        return transcript.reading.spent

    def reading(self, request: RunRequest) -> Reading:
        """Reads what the description says that the agent tells."""
        return ConfiguredReading(request.prompt, [skill.ref.name for skill in request.skills], self._description)


def _program(options: ConfiguredOptions) -> AgentProgram:
    """The program of a preset was tested in one version; of what the user describes nothing more is known."""
    preset, command = PRESETS.get(options.agent or ""), options.argv[0]
    if preset is None or command != preset.command:
        return AgentProgram(command=command, install="see the page of the agent")
    return AgentProgram(command=command, install=preset.install, tested=(preset.tested,))


def _write(path: Path, content: JsonValue, values: Mapping[str, str]) -> None:
    text = content if isinstance(content, str) else canonical_json(content)
    path.write_text(_filled(text, values), encoding="utf-8")


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill placeholders; other braces stay as they are, since files of JSON are full of them."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


class ConfiguredReading(Reading):
    """Reads skills and tokens where a description says that they are told.

    Args:
        prompt: what the agent was asked.
        skills: names of the skills that were installed.
        description: of the agent.
    """

    def __init__(self, prompt: str, skills: Collection[str], description: ConfiguredOptions) -> None:
        super().__init__(prompt, skills)
        self._description = description
        self._skill_calls: set[str] = set()
        self._skills_asked: dict[str, str] = {}
        self._spent: Usage | None = None
        self._before: Usage | None = None
        self._kept = description.kept_usage
        self._stranger = self._trouble = ""
        self.wants_last_word = True
        if description.skill_tool:
            self.refused = ()

    @property
    def known_fired(self) -> tuple[FiredSkill, ...] | None:
        """Skills that fired; that none did is known only by the tool that loads them."""
        return self.fired.all or (() if self._description.skill_tool else None)

    def initialized(self, answer: JsonObject) -> None:
        """Notice a program that is not the one that was described."""
        expected, name = self._description.agent_name, text_at(answer, "agentInfo", "name")
        if expected is not None and name != expected:
            self._stranger = f"the program says that it is {name!r}, and the engine expects {expected!r}"

    def own_failure(self) -> Failure | None:
        """The program is another one than described, so nothing that was read can be relied on, or tells of trouble."""
        if self._stranger:
            return failed(FailureClass.SETUP, self._stranger)
        return _failure_in(self._trouble) if self._trouble else None

    def failure_of(self, error: RemoteError) -> Failure:
        """Return what an error means; whatever another program than described says, it is the wrong one.

        Some keep the reason beside a message that says nothing.
        """
        if self._stranger:
            return failed(FailureClass.SETUP, self._stranger)
        failure = super().failure_of(error)
        reason = text_at(error.data, "details") or text_at(error.data, "message")
        return _failure_in(reason) if reason and failure.failure_class is FailureClass.PROTOCOL else failure

    def is_own_words(self, update: JsonObject) -> bool:
        """Tell whether the program itself speaks; what its model says afterwards is a sign that the trouble is over."""
        text = text_at(update, "content", "text") or ""
        is_own = text.startswith(self._description.own_words) if self._description.own_words else False
        if is_own or text.strip():
            self._trouble = text if is_own else ""
            self.has_trouble = is_own
        return is_own

    def updated(self, update: JsonObject) -> None:
        """Add up the tokens of messages."""
        if self._description.usage is UsageRule.MESSAGES and (spent := tokens_of(dig(update, "_meta", "usage"))):
            self._spent = added(self._spent, spent)

    def pass_over(self, home: Path, session: str) -> None:
        """Note the tokens of earlier turns."""
        if self._kept:
            self._before = self._kept.read(home)

    def read_home(self, home: Path) -> None:
        """Read the tokens that the program has written down."""
        if self._kept and (spent := self._kept.read(home)):
            self._spent = spent.without(self._before)

    @property
    def spent(self) -> Usage | None:
        """Tokens that were told before the answer to the prompt, so far."""
        return self._spent

    def tool_name(self, call: ToolCall) -> str:
        """The name that a call has, in whichever place; the title of a tool's call may change on its way."""
        names = (super().tool_name(call), *(text_at(call.fields, *place) for place in _TOOL_NAMES))
        for tool in self._description.skill_tool:
            if any(name == tool or (name or "").startswith(f"{tool}:") for name in names):
                self._skill_calls.add(call.id)
        if call.id in self._skill_calls and (skill := self._named_in(call)):
            self._skills_asked[call.id] = skill
        own = next(filter(None, names[:-1]), "")
        return own or (self._description.skill_tool[0] if call.id in self._skill_calls else "")

    def finished(self, call: ToolCall) -> None:
        """A call of the tool for skills has loaded the skill that it names, or failed to."""
        if call.id not in self._skill_calls:
            super().finished(call)
            return
        skill = self._skills_asked.get(call.id) or self._named_in(call, call.result)
        if skill is None:
            return
        if call.status == COMPLETED:
            self.fired.add(skill, INVOKED)
        elif call.status == FAILED:
            self.refuse(skill, f"its tool failed: {call.result}")

    def usage_of(self, answer: JsonObject, cost_usd: float | None) -> Usage | None:
        """Tokens as the description says."""
        match self._description.usage:
            case UsageRule.NONE:
                return None
            case UsageRule.MESSAGES | UsageRule.FILES:
                return self._spent
            case UsageRule.FINAL:
                return tokens_of(dig(answer, "usage"))

    def _named_in(self, call: ToolCall, text: str = "") -> str | None:
        """Return the installed skill that a call names: in its arguments, else in its title, else in a text."""
        sent = dig(call.fields, "rawInput")
        arguments = [value for value in sent.values() if isinstance(value, str)] if isinstance(sent, Mapping) else []
        if exact := next((name for name in self._installed if name in arguments), None):
            return exact
        title = text_at(call.fields, "title") or ""
        return next((name for name in self._installed if name in title or name in text), None)


def _failure_in(words: str) -> Failure:
    """Return what a reason means: by the HTTP status that it ends with, else by its words."""
    if statuses := _STATUS.findall(words):
        return failed(class_of_status(int(statuses[-1]), words), words)
    return failed(class_of_text(words) or FailureClass.PROTOCOL, words)
