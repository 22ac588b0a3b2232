"""The API of Google's Gemini models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from skillgauge.api import FailureClass, JudgeReply, JudgeRequest
from skillgauge_model_client.answers import dig
from skillgauge_model_client.judge import ModelJudge, reply_of
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered
from skillgauge_model_client.usages import gemini_usage

from .vendors import GEMINI

_REFUSALS = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")


class GeminiJudge(ModelJudge):
    """Asks Google, or a server that speaks its API."""

    name = GEMINI.name
    distribution = "skillgauge-judges"
    variables = GEMINI.key_variables
    usual_variable = GEMINI.usual_key_variable
    own_address = GEMINI.base_url
    default_model = GEMINI.default_model

    def headers(self, key: Key | None) -> Mapping[str, str]:
        """See `ModelJudge.headers`."""
        return {"x-goog-api-key": key.value} if key else {}

    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        """See `ModelJudge.question`."""
        generation: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
        if temperature is not None:
            generation["temperature"] = temperature
        body = {
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": [{"role": "user", "parts": [{"text": request.user}]}],
            "generationConfig": generation,
        }
        return f"/v1beta/models/{quote(model.removeprefix('models/'), safe='')}:generateContent", body

    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        """See `ModelJudge.answer`."""
        why = dig(document, "candidates", 0, "finishReason")
        if dig(document, "promptFeedback", "blockReason") or why in _REFUSALS:
            raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
        content = dig(document, "candidates", 0, "content", "parts")
        parts = content if isinstance(content, list) else []
        texts = [dig(part, "text") for part in parts if not dig(part, "thought")]
        text = "".join(part for part in texts if isinstance(part, str))
        usage = gemini_usage(document.get("usageMetadata"))
        return reply_of(text, model=document.get("modelVersion"), usage=usage, is_cut=why == "MAX_TOKENS")
