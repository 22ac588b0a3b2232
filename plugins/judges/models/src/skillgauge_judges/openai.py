"""Chat Completions, as OpenAI and many others serve them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillgauge.api import FailureClass, JudgeReply, JudgeRequest
from skillgauge_model_client.answers import dig
from skillgauge_model_client.chat import chat_headers, chat_path
from skillgauge_model_client.judge import ModelJudge, reply_of
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import openai_usage

from .options import OpenAIOptions
from .vendors import OPENAI


class OpenAIJudge(ModelJudge):
    """Asks OpenAI, or any server that speaks Chat Completions."""

    name = OPENAI.name
    distribution = "skillgauge-judges"
    variables = OPENAI.key_variables
    usual_variable = OPENAI.usual_key_variable
    own_address = OPENAI.base_url
    default_model = OPENAI.default_model

    def __init__(self, options: OpenAIOptions) -> None:
        super().__init__(options)
        self._api_version = options.api_version

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `ModelJudge.headers`."""
        return chat_headers(key, self._api_version)

    def further_settings(self) -> Mapping[str, str]:
        """See `ModelJudge.further_settings`."""
        return {} if self._api_version is None else {"api_version": self._api_version}

    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        """See `ModelJudge.question`."""
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
            # OpenAI's newer models refuse the old name, and other servers do not know the new one.
            "max_completion_tokens" if self.is_own_address else "max_tokens": request.max_output_tokens,
        }
        if temperature is not None:
            body["temperature"] = temperature
        return chat_path(self._options.base_url, model, self._api_version), body

    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        """See `ModelJudge.answer`."""
        message, why = dig(document, "choices", 0, "message"), dig(document, "choices", 0, "finish_reason")
        if dig(message, "refusal") or why == "content_filter":
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        content = dig(message, "content")
        if isinstance(content, list):  # some servers answer in parts
            content = "".join(part["text"] for part in content if isinstance(dig(part, "text"), str))
        usage = openai_usage(document.get("usage"))
        return reply_of(content, model=document.get("model"), usage=usage, is_cut=why == "length")
