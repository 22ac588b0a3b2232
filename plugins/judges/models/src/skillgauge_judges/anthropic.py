"""The Messages API of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import FailureClass, JudgeReply, JudgeRequest
from skillgauge_model_client.answers import dig
from skillgauge_model_client.judge import ModelJudge, reply_of
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import anthropic_usage

from .vendors import ANTHROPIC

_API_VERSION = "2023-06-01"


class AnthropicJudge(ModelJudge):
    """Asks Anthropic, or a server that speaks its Messages API."""

    name = ANTHROPIC.name
    distribution = "skillgauge-judges"
    variables = ANTHROPIC.key_variables
    usual_variable = ANTHROPIC.usual_key_variable
    own_address = ANTHROPIC.base_url
    default_model = ANTHROPIC.default_model
    aliases = ANTHROPIC.aliases

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `ModelJudge.headers`."""
        return {"anthropic-version": _API_VERSION} | ({"x-api-key": key.value} if key else {})

    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        """See `ModelJudge.question`."""
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": request.max_output_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
        }
        if temperature is not None:
            body["temperature"] = temperature
        return "/v1/messages", body

    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        """See `ModelJudge.answer`."""
        why, content = document.get("stop_reason"), document.get("content")
        if why == "refusal":
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        parts = content if isinstance(content, list) else []
        # Blocks of other types are the model's thinking.
        texts = [dig(part, "text") for part in parts if dig(part, "type") == "text"]
        text = "".join(part for part in texts if isinstance(part, str))
        usage = anthropic_usage(document.get("usage"))
        return reply_of(text, model=document.get("model"), usage=usage, is_cut=why == "max_tokens")
