"""The options of the engine: the service, and the permissions of the agent."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Self

from pydantic import Field, model_validator

from skillgauge.api import HARMLESS
from skillgauge_documents.immutables import immutable
from skillgauge_model_client.options import API_VERSION, Address, Prices, ServiceOptions

SKILL_FOLDER = ".agents/skills"
"""Where the agent looks for skills, relative to its workspace."""


class Service(StrEnum):
    """APIs that it speaks."""

    OPENAI = "openai"
    """Chat Completions, as OpenAI and many others serve them."""
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


@immutable
class ServiceFacts:
    """The known facts of a service."""

    address: str
    """Base URL of the vendor's own, which needs a key."""
    variables: tuple[str, ...]
    """Where its key is looked for; the first that is set counts."""
    address_variable: str
    """Where its address is looked for, if no option names one."""
    models: tuple[str, ...]
    """Patterns of the model ids that are its own."""


SERVICES: Mapping[Service, ServiceFacts] = {
    Service.OPENAI: ServiceFacts(
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        ("gpt-*", "o1*", "o3*", "o4*", "chatgpt-*"),
    ),
    Service.ANTHROPIC: ServiceFacts(
        "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", ("claude-*",)
    ),
    Service.GEMINI: ServiceFacts(
        "https://generativelanguage.googleapis.com",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        ("gemini-*",),
    ),
}


class ApiOptions(ServiceOptions):
    """Options of `api`."""

    provider: Service | None = Field(
        default=None, description="API to speak; default: that of the model's id, at another address `openai`."
    )
    base_url: Address | None = Field(
        default=None,
        description="Where it is served, such as http://127.0.0.1:11434/v1; default: the gateway of its provider, else "
        "the vendor's own.",
    )
    openai_gateway: Address | None = Field(
        default=None, description="Where the API `openai` is served; default: what OPENAI_BASE_URL says."
    )
    anthropic_gateway: Address | None = Field(
        default=None, description="Where the API `anthropic` is served; default: what ANTHROPIC_BASE_URL says."
    )
    gemini_gateway: Address | None = Field(
        default=None, description="Where the API `gemini` is served; default: what GOOGLE_GEMINI_BASE_URL says."
    )
    model: str | None = Field(
        default=None, min_length=1, description="Model to ask where nobody names one.", json_schema_extra=HARMLESS
    )
    api_version: str | None = API_VERSION
    tools: bool = Field(
        default=True,
        description="Whether the model gets tools; without them there is one question, with the whole skills in it.",
        json_schema_extra=HARMLESS,
    )
    max_turns: int = Field(
        default=50,
        ge=1,
        description="Answers of the model, where neither suite nor user says.",
        json_schema_extra=HARMLESS,
    )
    max_output_tokens: int = Field(default=8192, ge=1, description="Tokens of one answer.", json_schema_extra=HARMLESS)
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sent if it is given.", json_schema_extra=HARMLESS
    )
    request_timeout_s: float = Field(
        default=600.0, gt=0, le=3600, description="Seconds for one answer.", json_schema_extra=HARMLESS
    )
    command_timeout_s: float = Field(
        default=120.0, gt=0, description="Seconds for one command of the tool `bash`.", json_schema_extra=HARMLESS
    )
    prices: Prices | None = Field(
        default=None, description="US dollars per million tokens; without them the cost is unknown."
    )

    @model_validator(mode="after")
    def _is_chat_of_azure(self) -> Self:
        if self.api_version is not None and self.provider not in (None, Service.OPENAI):
            raise ValueError(f"api_version is for the provider openai, not {self.provider}")
        return self

    def service(self, model: str | None) -> Service | None:
        """The API to speak for a model; `None` if nothing tells."""
        if self.provider is not None:
            return self.provider
        if self.api_version is not None:
            return Service.OPENAI
        for service, facts in SERVICES.items():
            if any(fnmatchcase(model or "", pattern) for pattern in facts.models):
                return service
        return Service.OPENAI if self.base_url is not None else None

    def address(self, service: Service) -> str:
        """The base URL to ask."""
        gateway: str | None = getattr(self, gateway_option(service))
        return self.base_url or gateway or SERVICES[service].address

    def variables(self, service: Service) -> tuple[str, ...]:
        """The variables in which the key is looked for."""
        return (self.key_variable,) if self.key_variable else SERVICES[service].variables


def gateway_option(service: Service) -> str:
    """The name of the option that says where one of the APIs is served."""
    return f"{service}_gateway"
