"""The API of Google's Gemini models."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage

from .client import ModelClient, count, dig, find_key, known, written
from .options import BASE_URL, VARIABLES, GeminiOptions
from .outcomes import Unanswered

_REFUSALS = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")


class GeminiJudge:
    """Asks a model by one request per question."""

    def __init__(self, options: GeminiOptions) -> None:
        self._options = options
        self._key = find_key(VARIABLES)
        headers = {"x-goog-api-key": self._key.value} if self._key else {}
        self._client = ModelClient(self._key, headers, options.timeout_s)

    async def check(self) -> tuple[Problem, ...]:
        """Whether there is a key, where one is needed, and a model. Nothing is sent."""
        problems = list(self._key.problems() if self._key else ())
        if self._key is None and self._options.base_url == BASE_URL:
            names = ", ".join(VARIABLES)
            message = f"judge 'gemini' has no key: none of the environment variables {names} is set"
            hint = "Set GEMINI_API_KEY, or name a server that needs no key: --set judges.gemini.base_url=URL."
            problems.append(Problem("judge.no-key", message, hint=hint))
        if self._model(None) is None:
            message = "judge 'gemini' does not know which model to ask"
            problems.append(Problem("judge.no-model", message, hint="Name the model with --judge-model."))
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """The judge's version, the address and the model; incomplete, since what is served may change at any time."""
        return Identity(
            name="gemini",
            version=version("skillgauge-judge-gemini"),
            settings={"base_url": self._options.base_url, "model": self._model(model)},
            complete=False,
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once."""
        model = self._model(request.model)
        if model is None:
            return Unanswered(FailureClass.BAD_REQUEST, "no model is named: use --judge-model").reply
        if self._key and self._key.problems():
            return Unanswered(FailureClass.AUTH, self._key.problems()[0].message).reply
        generation: dict[str, Any] = {"maxOutputTokens": request.max_output_tokens}
        temperature = self._options.temperature if request.temperature is None else request.temperature
        if temperature is not None:
            generation["temperature"] = temperature
        body = {
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": [{"role": "user", "parts": [{"text": request.user}]}],
            "generationConfig": generation,
        }
        path = f"/v1beta/models/{quote(model.removeprefix('models/'), safe='')}:generateContent"
        return await self._client.ask(self._options.base_url + path, body, _read, model)

    def _model(self, asked: str | None) -> str | None:
        return asked or self._options.model


def _read(document: Mapping[str, Any]) -> JudgeReply:
    why = dig(document, "candidates", 0, "finishReason")
    if dig(document, "promptFeedback", "blockReason") or why in _REFUSALS:
        raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
    content = dig(document, "candidates", 0, "content", "parts")
    parts = content if isinstance(content, list) else []
    found = [dig(part, "text") for part in parts if not dig(part, "thought")]
    text = written("".join(part for part in found if isinstance(part, str)))
    if text is None:
        is_cut = why == "MAX_TOKENS"
        told = "the answer reached its limit of tokens before its first word" if is_cut else "no text in it"
        raise Unanswered(FailureClass.PROTOCOL, f"the answer is empty: {told}")
    usage = _usage(document.get("usageMetadata"))
    return JudgeReply(text=text, model=written(document.get("modelVersion")), usage=usage)


def _usage(found: object) -> Usage | None:
    given, cached = count(dig(found, "promptTokenCount")), count(dig(found, "cachedContentTokenCount"))
    said, thought = count(dig(found, "candidatesTokenCount")), count(dig(found, "thoughtsTokenCount"))
    return known(
        Usage(
            input_tokens=given if given is None or cached is None else max(0, given - cached),
            cache_read_tokens=cached,
            output_tokens=said if said is None or thought is None else said + thought,
            reasoning_tokens=thought,
            total_tokens=count(dig(found, "totalTokenCount")),
        )
    )
