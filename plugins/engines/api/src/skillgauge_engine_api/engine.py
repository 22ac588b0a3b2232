"""An agent of its own: asks a model over HTTP and does what it wants done in the workspace.

The requests are made by this process, outside of the workspace, so the key never is where the model's commands run,
and a sandbox need let nothing through.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import assert_never

from skillgauge.api import Emit, Execution, Failure, FailureClass, Identity, ModelRoute, Problem, RunRequest, Workspace
from skillgauge_model_client.client import ModelClient, find_key

from .anthropic_messages import AnthropicMessages
from .dialect import Answer, Dialect, Document, Question
from .gemini_content import GeminiContent
from .openai_chat import OpenAIChat
from .options import SERVICES, ApiOptions, Service, gateway_option
from .session import Session, Talk
from .skills import find_skills

NAME = "api"


class ApiEngine:
    """Holds sessions with models.

    Args:
        options: which service, and what the agent may do.
    """

    def __init__(self, options: ApiOptions) -> None:
        self._options = options
        self._clients: dict[Service, ModelClient] = {}
        self._asked: set[str | None] = set()
        """Models that sessions are planned with."""
        self._open: dict[str, list[Document]] = {}
        """What was said in sessions that a further turn comes to, by their ids."""

    async def check(self) -> tuple[Problem, ...]:
        """Check that there is a model, a service that has it, and a key where one is needed, for all that is planned.

        Nothing is sent.
        """
        problems: dict[str, Problem] = {}
        for model in sorted(self._asked, key=str):
            for problem in self._missing(model):
                problems.setdefault(problem.message, problem)
        return tuple(problems.values())

    def identity(self, model: str | None) -> Identity:
        """Version, service, options and model; complete with a model, as that of every agent that asks a service."""
        model_id = model or self._options.model
        self._asked.add(model_id)
        service = self._options.service(model_id)
        addresses = {"base_url", *map(gateway_option, SERVICES)}
        settings = self._options.model_dump(mode="json", exclude={"provider", "key_variable", "prices", *addresses})
        address = self._options.address(service) if service else None
        return Identity(
            name=NAME,
            version=version(f"skillgauge-engine-{NAME}"),
            settings={**settings, "provider": service, "base_url": address, "model": model_id},
            model=model_id,
            service=address,
            complete=model_id is not None and service is not None,
        )

    def routes(self, model: str | None) -> tuple[ModelRoute, ...]:
        """None: the requests are made outside of the workspace."""
        return ()

    async def run(self, request: RunRequest, workspace: Workspace, emit: Emit) -> Execution:
        """Hold one session."""
        model = request.model or self._options.model
        service = self._options.service(model)
        missing = self._missing(model)
        if model is None or service is None or missing:
            failure = Failure.of_agent(FailureClass.AUTH, missing[0].message)
            return Execution(failure=failure, sandbox=workspace.tier)
        dialect = _dialect(service)
        client = self._client(service, dialect)
        address = self._options.address(service)
        is_vendor = address == SERVICES[service].address

        async def ask(question: Question) -> Answer:
            path, body = dialect.request(question, is_vendor=is_vendor)
            return await client.exchange(f"{address}{path}", body, dialect.read, model)

        skills = await find_skills(workspace)
        said = self._open.pop(request.continues or "", [])
        session = Session(Talk(model, dialect, ask), self._options, skills, request, workspace, emit, said)
        execution = await session.hold()
        if request.is_followed and execution.failure is None:
            self._open[request.trial_id] = session.messages
        return execution

    def _client(self, service: Service, dialect: Dialect) -> ModelClient:
        if service not in self._clients:
            key = find_key(self._options.variables(service))
            self._clients[service] = ModelClient(key, dialect.headers(key), self._options.request_timeout_s)
        return self._clients[service]

    def _missing(self, model: str | None) -> tuple[Problem, ...]:
        if model is None:
            hint = "Name it with --model."
            return (Problem("engine.no-model", f"engine {NAME!r} does not know which model to ask", hint=hint),)
        service = self._options.service(model)
        if service is None:
            message = f"engine {NAME!r} does not know which service has model {model!r}"
            hint = f"Say --set engines.{NAME}.provider={'|'.join(Service)}, or --set engines.{NAME}.base_url=URL."
            return (Problem("engine.no-provider", message, hint=hint),)
        variables = self._options.variables(service)
        key = find_key(variables)
        if key is not None:
            return tuple(replace(problem, code="engine.key") for problem in key.problems())
        if self._options.address(service) != SERVICES[service].address:
            return ()
        message = f"engine {NAME!r} has no key for {service}: none of {', '.join(variables)} is set"
        hint = f"Set {variables[0]}, or name a server that needs no key: --set engines.{NAME}.base_url=URL."
        return (Problem("engine.no-key", message, hint=hint),)


def _dialect(service: Service) -> Dialect:
    match service:
        case Service.OPENAI:
            return OpenAIChat()
        case Service.ANTHROPIC:
            return AnthropicMessages()
        case Service.GEMINI:
            return GeminiContent()
        case _:
            assert_never(service)
