"""Sessions with services, each of which has one client."""

from __future__ import annotations

from typing import assert_never

from skillgauge.api import Emit, Execution, RunRequest, Workspace
from skillgauge_model_client.client import ModelClient
from skillgauge_model_client.keys import find_headers, find_key

from .anthropic_messages import AnthropicMessages
from .dialect import Answer, Dialect, Document, Question
from .gemini_content import GeminiContent
from .openai_chat import OpenAIChat
from .options import SERVICES, ApiOptions, Service
from .session import Session, Talk
from .skills import find_skills


class Conversations:
    """Holds sessions.

    Args:
        options: those of the engine.
    """

    def __init__(self, options: ApiOptions) -> None:
        self._options = options
        self._clients: dict[Service, ModelClient] = {}
        self._open: dict[str, list[Document]] = {}
        """What was said in sessions that a further turn comes to, by their ids."""

    async def hold(
        self, model: str, service: Service, request: RunRequest, workspace: Workspace, emit: Emit
    ) -> Execution:
        """Hold one session with a model of a service."""
        address = self._options.address(service)
        dialect = _dialect(service, address, self._options.api_version)
        client = self._client(service, dialect)
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
            further = find_headers(self._options.headers)
            headers = further.beside(dialect.headers(key))
            timeout_s = self._options.request_timeout_s
            self._clients[service] = ModelClient(key, headers, timeout_s, further=further.values)
        return self._clients[service]


def _dialect(service: Service, address: str, api_version: str | None) -> Dialect:
    match service:
        case Service.OPENAI:
            return OpenAIChat(address, api_version)
        case Service.ANTHROPIC:
            return AnthropicMessages()
        case Service.GEMINI:
            return GeminiContent()
        case _:
            assert_never(service)
