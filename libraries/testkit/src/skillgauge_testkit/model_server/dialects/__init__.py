"""The wire formats, one module each."""

from __future__ import annotations

from .anthropic import Anthropic
from .clouds import Bedrock, Vertex
from .gemini import Gemini
from .openai_chat import OpenAIChat
from .openai_responses import OpenAIResponses
from .wire import Answer, Dialect, Failure, IssuedCall

DIALECTS: tuple[Dialect, ...] = (Anthropic(), OpenAIResponses(), OpenAIChat(), Gemini(), Bedrock(), Vertex())

__all__ = ["DIALECTS", "Answer", "Dialect", "Failure", "IssuedCall"]
