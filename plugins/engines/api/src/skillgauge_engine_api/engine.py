"""An agent of its own: asks a model over HTTP and does what it wants done in the workspace.

The requests are made by this process, outside of the workspace, so the key never is where the model's commands run,
and a sandbox need let nothing through.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING

from skillgauge.api import Emit, Execution, Failure, FailureClass, Identity, ModelRoute, Problem, RunRequest, Workspace
from skillgauge_model_client.keys import find_headers, find_key

from .options import SERVICES, ApiOptions, Service, gateway_option

if TYPE_CHECKING:
    from .conversations import Conversations

NAME = "api"


class ApiEngine:
    """Holds sessions with models.

    Args:
        options: which service, and what the agent may do.
    """

    def __init__(self, options: ApiOptions) -> None:
        self._options = options
        self._asked: set[str | None] = set()
        """Models that sessions are planned with."""

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
        told_elsewhere = {"provider", "key_variable", "prices", "headers", "api_version", *addresses}
        settings = self._options.model_dump(mode="json", exclude=told_elsewhere)
        if self._options.headers:
            settings["headers"] = self._options.header_names
        if self._options.api_version is not None:
            settings["api_version"] = self._options.api_version
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
        return await self._conversations.hold(model, service, request, workspace, emit)

    @cached_property
    def _conversations(self) -> Conversations:
        from .conversations import Conversations  # noqa: PLC0415 - httpx and more that only a session needs

        return Conversations(self._options)

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
        if problems := find_headers(self._options.headers).problems(f"engine {NAME!r}"):
            return tuple(replace(problem, code="engine.header") for problem in problems)
        if key is not None:
            return tuple(replace(problem, code="engine.key") for problem in key.problems())
        is_own = self._options.address(service) == SERVICES[service].address
        if not (is_own or self._options.key_variable) or self._options.headers:
            return ()
        message = f"engine {NAME!r} has no key for {service}: none of {', '.join(variables)} is set"
        hint = f"Set {variables[0]}, or name a server that needs no key: --set engines.{NAME}.base_url=URL."
        return (Problem("engine.no-key", message, hint=hint),)
