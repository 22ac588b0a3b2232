"""The parts of a conversation with a model, whichever API carries it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Usage
from skillgauge_model_client.keys import Key

Document = dict[str, Any]
"""A JSON object of an API's own."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of its arguments."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    """`None` if what the model wrote is no JSON object."""


@dataclass(frozen=True)
class ToolResult:
    """The result of a call."""

    call: ToolCall
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Question:
    """Everything that one request says."""

    model: str
    system: str
    messages: Sequence[Document]
    tools: Sequence[ToolSpec]
    max_output_tokens: int
    temperature: float | None


@dataclass(frozen=True)
class Answer:
    """The answer of the model."""

    message: Document
    """As the API wants to hear it again in the next question."""
    text: str = ""
    thoughts: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    is_cut: bool = False
    """Whether it reached the limit of tokens."""


class Dialect(ABC):
    """The language in which one API writes questions and answers. Stateless."""

    @abstractmethod
    def headers(self, key: Key | None) -> Mapping[str, str]:
        """Headers of every question."""

    @abstractmethod
    def request(self, question: Question, *, is_vendor: bool) -> tuple[str, Document]:
        """Path below the base URL, and body; `is_vendor` says whether the vendor's own servers are asked."""

    @abstractmethod
    def prompt(self, text: str) -> Document:
        """The user's message."""

    @abstractmethod
    def results(self, results: Sequence[ToolResult]) -> list[Document]:
        """The messages that tell what tools have answered."""

    @abstractmethod
    def read(self, document: Mapping[str, Any]) -> Answer:
        """Read an answer. Raises `Unanswered` if the model refused, or if it is no answer."""


def parsed_arguments(value: object) -> Mapping[str, Any] | None:
    """Arguments of a call, written as JSON or given as an object."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, dict) else None
