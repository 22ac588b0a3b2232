"""An engine that drives a command-line program: what is alike whichever vendor's it is."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

from skillgauge.api import (
    EMPTY,
    Command,
    Emit,
    Execution,
    FailureClass,
    Identity,
    JsonObject,
    LaunchError,
    ModelRoute,
    Problem,
    Redactor,
    RunRequest,
    Severity,
    Usage,
    Workspace,
    host_environment,
)
from skillgauge_mcp_servers.verdicts import with_stand_ins

from .accounts import Transcript
from .credentials import PLACEHOLDER, SHORTEST, Key, Login, find_key, find_login, handed_over, lent
from .failures import failed
from .installs import given_servers, with_hooks
from .options import ProgramOptions
from .programs import AgentProgram, Found, find_program, needed_folders, passed_environment
from .raw import RAW_BYTES, RawStream
from .sessions import LINE_BYTES, Ran, cleaned_emit, ending_of, execution_of, follow, not_started, with_pause
from .skills import skill_texts, with_reads
from .spending import SpendingWatch, with_relayed
from .transcripts import SessionTranscript

_OPENAI = ("POST /responses", "POST /responses/*", "POST /chat/completions", "GET /models", "GET /models/*")
REQUESTS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models", "GET /v1/models/*"),
    "openai": _OPENAI,
    "azure": _OPENAI,
    "gemini": ("GET /v1*/models", "GET /v1*/models/*", "POST /v1*/models/*"),
}
"""What programs ask the APIs that several of them know; files, batches, fine-tuning and keys are not among it."""


@dataclass(frozen=True)
class Service:
    """A model API that a program asks."""

    route: str
    """Its name among the routes of a workspace."""
    address: str
    """Base URL."""
    variables: tuple[str, ...]
    """Environment variables that may hold its key; the first that is set counts, and the first is recommended."""
    login_files: tuple[str, ...] = ()
    """Credential files of a login, relative to the home."""
    needs_key: bool = True
    """Whether nothing works without credentials, as at the vendor's own address."""
    is_relayable: bool = True
    """Whether a header on each request is all that authenticates."""
    is_past_gateway: bool = False
    """Whether it is asked although the user has a gateway, to which a login is not sent."""
    requests: tuple[str, ...] = ()
    """What its program asks, as `ModelRoute.requests` has it, where `REQUESTS` does not say it; else all may be got
    and posted."""


@dataclass(frozen=True)
class Access:
    """The way in which one session reaches its model API."""

    service: Service
    address: str
    """Base URL as the program must use it."""
    key: Key | None
    """What to give to the program: the key, or a placeholder where a relay adds it. `None` with a login."""
    logins: tuple[Login, ...] = ()
    is_relayed: bool = False

    @property
    def credentials(self) -> Mapping[str, str]:
        """The variable with the key, as the program gets it; none with a login."""
        return {self.key.variable: self.key.value} if self.key else {}


@dataclass(frozen=True)
class Launch:
    """The command that starts the program for one session."""

    arguments: tuple[str, ...]
    """After the program itself."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Its own settings; the variable with the key, and those of `pass_env`, are added to them."""
    stdin: bytes = b""
    """Closed after it."""
    key: Key | None = None
    """For the program to read from descriptor `KEY_DESCRIPTOR`, so that no command that it runs can see it; it is in no
    variable then."""


class ProgramEngine(ABC):
    """Runs one process per session and reads the events that it writes.

    A subclass names the engine, its program and its API, says how to start it, and brings a `Transcript` that reads its
    events; `transcripts.SessionTranscript` is one to derive from.

    Args:
        options: what the user set.
    """

    name: str
    """As the user types it."""
    program: AgentProgram
    api: ClassVar[Service]
    """The model API that sessions ask; a program that asks one of several says which by `service` instead."""
    address_variables: ClassVar[tuple[str, ...]] = ()
    """Variables from which the program itself takes its address, also with a login: one that `pass_env` names has the
    login sent there."""
    diverting_variables: ClassVar[tuple[str, ...]] = ()
    """Variables by which the program itself goes elsewhere in a way that this engine has no support for. While one of
    them is set the vendor is not asked, since the user does not mean it."""
    distribution: ClassVar[str | None] = None
    """What the engine is installed as; its version is part of the identity then."""

    def __init__(self, options: ProgramOptions) -> None:
        self._options = options
        self._servers, self._server_problems = given_servers(getattr(options, "mcp_servers", EMPTY), self.name)
        self.models: set[str | None] = set()
        """Those that `identity` was asked about."""

    def service(self, model: str | None) -> Service:
        """The model API that sessions with this model ask: `api`, or what the user put in its place."""
        address = self._options.base_url
        return self.at_gateway(self.api) if address is None else replace(self.api, address=address, needs_key=False)

    def at_gateway(self, service: Service, keys: tuple[str, ...] | None = None) -> Service:
        """Return the vendor's service at the gateway, if there is one and what authenticates is sent there.

        A key is. A login is for the vendor alone, unless the user passes the variable on to the program.

        Args:
            service: as the vendor serves it.
            keys: those of its variables that hold a key which any server can be sent; by default all.
        """
        gateway = self._options.gateway
        if gateway is None:
            return service
        keys = service.variables if keys is None else keys
        tokens = tuple(name for name in service.variables if name not in keys)
        if find_key(keys) or not (find_key(tokens) or find_login(service.login_files)):
            return replace(service, address=gateway, variables=keys, needs_key=False, is_relayable=True)
        if any(name in self._options.pass_env for name in self.address_variables):
            return replace(service, address=gateway)
        return replace(service, is_past_gateway=True)

    def is_elsewhere(self, access: Access) -> bool:
        """True if the program has to be given the address, as it is not the one that it asks by itself."""
        is_at_gateway = self._options.gateway is not None and access.service.address == self._options.gateway
        return access.is_relayed or self._options.base_url is not None or is_at_gateway

    def logins(self, service: Service) -> tuple[Login, ...]:
        """Return the credential files that a session without a key gets copies of; by default the first that exists."""
        login = find_login(service.login_files)
        return (login,) if login else ()

    def further_secrets(self) -> Mapping[str, str]:
        """Return what else the program gets that must not be in results, by the name of its variable."""
        return {}

    def key_headers(self, key: Key) -> Mapping[str, str]:
        """Headers that carry a key on a request, for a relay; by default a bearer's token."""
        return {"authorization": f"Bearer {key.value}"}

    @abstractmethod
    def launch(self, request: RunRequest, workspace: Workspace, access: Access) -> Launch:
        """Make the command that starts the program; may prepare files below `Workspace.home`."""

    @abstractmethod
    def transcript(self, request: RunRequest) -> Transcript:
        """Return the reader of the program's events."""

    async def follow(
        self, workspace: Workspace, command: Command, transcript: Transcript, emit: Emit, raw: RawStream
    ) -> Ran:
        """Run the program to its end; a program that one talks to needs its own way of doing this.

        Raises:
            LaunchError: it cannot be started.
        """
        return await follow(workspace, command, transcript, emit, raw)

    def settings(self) -> JsonObject:
        """Options that sessions depend on; where the program lies and what it is called is none of them.

        Instructions and servers are among them where there are some: recordings of sessions without any stay what they
        were.
        """
        settings = self._options.model_dump(mode="json", exclude={"program", "model", "gateway"})
        settings |= {"mcp_servers": tuple(one.digest for one in self._servers) or None}
        rare = ("instructions", "mcp_servers")
        return {name: value for name, value in settings.items() if name not in rare or value is not None}

    def missing(self, service: Service) -> tuple[Problem, ...]:
        """Report what keeps the program from authenticating at a service."""
        if find_key(service.variables):
            return self._unusable(service)
        if not service.needs_key or find_login(service.login_files):
            return ()
        names = ", ".join(service.variables)
        files = "".join(f" and there is no ~/{file}" for file in service.login_files)
        message = f"engine {self.name!r} has no credentials: none of the environment variables {names} is set{files}"
        address = f"--set engines.{self.name}.base_url=URL"
        log_in = f", log in with {self.program.command}" if service.login_files else ""
        hint = f"Set {service.variables[0]}{log_in}, or name a server that needs no key: {address}."
        return (Problem("engine.no-credentials", message, hint=hint),)

    def further_problems(self) -> tuple[Problem, ...]:
        """Report anything else that keeps the engine from working with these options."""
        return ()

    def has_past(self, request: RunRequest) -> bool:
        """Tell whether the first turn of a session already finds earlier turns in the home."""
        return False

    def pass_over(self, home: Path, transcript: Transcript) -> None:  # noqa: B027 - as `read_home`
        """Let a transcript take note of what earlier turns left in the home; called in a thread, before a later one."""

    def read_home(self, home: Path, transcript: Transcript) -> None:  # noqa: B027 - most programs leave nothing there
        """Let a transcript read what the program left in its home; called in a thread, after its end."""

    def usage_so_far(self, home: Path, transcript: Transcript) -> Usage | None:
        """The usage of a session under way, which counts if it is cut off; called in a thread, again and again.

        A program whose events do not name it may have written it down in its home.
        """
        return transcript.usage if isinstance(transcript, SessionTranscript) else None

    @property
    def found(self) -> Found:
        """The program on this machine."""
        return find_program(self._options.program or self.program.command)

    def model(self, asked: str | None) -> str | None:
        """The model that sessions ask for."""
        return asked or self._options.model

    async def check(self) -> tuple[Problem, ...]:
        """Check that program and credentials are there, for every model that `identity` was asked about."""
        program = await asyncio.to_thread(lambda: self.found)
        problems = list(program.problems(self.name, self.program, self._options.program or self.program.command))
        services = {self.service(model): None for model in sorted(self.models or {None}, key=str)}
        for service in services:
            problems += (*self.missing(service), *self._diverted(service))
        return (*problems, *self._server_problems, *self.further_problems())

    def identity(self, model: str | None) -> Identity:
        """The program's version, the options and the model."""
        program, model_id = self.found, self.model(model)
        self.models.add(model_id)
        address = self.service(model_id).address
        settings = self.settings()
        if self._options.base_url is None and address == self._options.gateway:
            settings = {**settings, "base_url": address}  # as if the option were set
        own = f"+engine{version(self.distribution)}" if self.distribution else ""
        return Identity(
            name=self.name,
            version=f"{program.version or 'unknown'}{own}",
            settings=settings,
            model=model_id,
            service=address,
            complete=program.version is not None and model_id is not None,
        )

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """The model API with the key that requests get outside; none for a login, which nobody else can use."""
        service = self.service(self.model(model))
        key = find_key(service.variables)
        if not service.is_relayable or (key is None and service.needs_key):
            return ()
        headers = self.key_headers(key) if key else {}
        route = ModelRoute(name=service.route, base_url=service.address, headers=headers)
        requests = service.requests or REQUESTS.get(service.route, route.requests)
        return (route.model_copy(update={"requests": requests}),)

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Run one session to its end. Cancelling ends the program."""
        if self._servers:
            request = request.model_copy(update={"installs": (*self._servers, *request.installs)})
        path = (await asyncio.to_thread(lambda: self.found)).path
        access = self._access(request, workspace)
        clean = self._redactor(access)
        try:
            texts = await skill_texts(workspace, request.skills)  # now, before anybody can change them
            if path is None:
                raise LaunchError(f"{self._options.program or self.program.command!r} is not there")
            with lent(access.logins, workspace.home, clean):
                launch = self.launch(request, workspace, access)
                transcript = self.transcript(request)
                if request.continues is not None or self.has_past(request):
                    await asyncio.to_thread(self.pass_over, workspace.home, transcript)
                raw = RawStream(request.limits.output_bytes or RAW_BYTES)
                command = self._command(path, launch, request, access)
                watch = SpendingWatch(workspace, emit, lambda: self.usage_so_far(workspace.home, transcript))
                async with watch:
                    cleaned = cleaned_emit(watch.emit, clean.redact)
                    ran = await self.follow(workspace, command, transcript, cleaned, raw)
        except LaunchError as error:
            return clean.redact(not_started(error, workspace.tier))
        except OSError as error:
            failure = failed(FailureClass.SETUP, f"cannot prepare the agent's home: {error}")
            return clean.redact(Execution(failure=failure, sandbox=workspace.tier))
        await asyncio.to_thread(self.read_home, workspace.home, transcript)
        account = with_hooks(transcript.account(ending_of(ran.finished)), workspace.home, request.installs)
        account = replace(account, trajectory=with_reads(account.trajectory, texts))
        execution = with_pause(execution_of(ran, account, workspace.tier), workspace)
        execution = with_stand_ins(execution, workspace.home, request.installs)
        return clean.redact(with_relayed(execution, workspace, watch.before))

    def _command(self, path: str, launch: Launch, request: RunRequest, access: Access) -> Command:
        argv, stdin = (path, *launch.arguments), launch.stdin
        if launch.key:
            argv, stdin = handed_over(launch.key, argv, stdin)
        credentials = {} if launch.key else access.credentials
        return Command(
            argv=argv,
            env={**passed_environment(self._options.pass_env), **credentials, **launch.environment},
            readable=needed_folders(path),
            stdin=stdin,
            streamed=True,
            timeout_s=request.limits.timeout_s,
            output_bytes=LINE_BYTES,
        )

    def _access(self, request: RunRequest, workspace: Workspace) -> Access:
        service = self.service(self.model(request.model))
        key = find_key(service.variables)
        variables = (key.variable,) if key else service.variables
        nobodys = Key(variables[0], PLACEHOLDER) if variables else None
        if inside := workspace.routes.get(service.route):
            return Access(service, inside, nobodys, is_relayed=True)
        if key or not service.needs_key:
            return Access(service, service.address, key or nobodys)
        return Access(service, service.address, None, self.logins(service))

    def _unusable(self, service: Service) -> tuple[Problem, ...]:
        """Report a key that cannot be used."""
        key = find_key(service.variables)
        return key.problems() if key else ()

    def _redactor(self, access: Access) -> Redactor:
        """Knows every secret that the program could show, the key outside included."""
        redactor = Redactor()
        secrets = {**passed_environment(self._options.secret_env), **self.further_secrets()}
        if key := find_key(access.service.variables):
            secrets[key.variable] = key.value
        for name, value in secrets.items():
            if len(value) >= SHORTEST and name.lower() != "no_proxy":
                redactor.register(name, value)
        return redactor

    def _diverted(self, service: Service) -> Iterator[Problem]:
        """Report variables that send the program, or its key, to another service."""
        if service.address in (self._options.base_url, self._options.gateway):
            return
        environment = host_environment()
        option = f"--set engines.{self.name}.base_url=URL"
        diverting = [name for name in self.diverting_variables if _is_on(environment.get(name, ""))]
        if diverting:
            names = ", ".join(diverting)
            message = f"engine {self.name!r} would ask {service.address}, although {names} sends it elsewhere"
            hint = f"skillgauge does not support {names}: unset it, or say which address is to be asked: {option}."
            yield Problem("engine.diverted", message, hint=hint)
        if service.is_past_gateway:
            names = ", ".join(name for name in self.address_variables if environment.get(name)) or "gateway"
            message = f"engine {self.name!r} asks {service.address} with a login, which is not sent where {names} says"
            hint = f"Set {service.variables[0]} to a key for {self._options.gateway}, or unset {names}."
            yield Problem("engine.gateway-unused", message, severity=Severity.WARNING, hint=hint)


def _is_on(value: str) -> bool:
    return value.strip().lower() not in ("", "0", "false", "no", "off")
