"""Chat Completions, as OpenAI and many others serve them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage

from .client import ModelClient, count, dig, find_key, known, written
from .options import BASE_URL, MODEL, VARIABLES, OpenAIOptions
from .outcomes import Unanswered


class OpenAIJudge:
    """Asks a model by one request per question."""

    def __init__(self, options: OpenAIOptions) -> None:
        self._options = options
        self._is_openai = options.base_url == BASE_URL
        self._key = find_key(VARIABLES)
        headers = {"Authorization": f"Bearer {self._key.value}"} if self._key else {}
        self._client = ModelClient(self._key, headers, options.timeout_s)

    async def check(self) -> tuple[Problem, ...]:
        """Whether there is a key, where one is needed, and a model. Nothing is sent."""
        problems = list(self._key.problems() if self._key else ())
        if self._key is None and self._is_openai:
            names = ", ".join(VARIABLES)
            message = f"judge 'openai' has no key: none of the environment variables {names} is set"
            hint = "Set OPENAI_API_KEY, or name a server that needs no key: --set judges.openai.base_url=URL."
            problems.append(Problem("judge.no-key", message, hint=hint))
        if self._model(None) is None:
            message = f"judge 'openai' does not know which model to ask at {self._options.base_url}"
            problems.append(Problem("judge.no-model", message, hint="Name the model with --judge-model."))
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """The judge's version, the address and the model; incomplete, since what is served may change at any time."""
        return Identity(
            name="openai",
            version=version("skillgauge-judge-openai"),
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
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
            # OpenAI's newer models refuse the old name, and other servers do not know the new one.
            "max_completion_tokens" if self._is_openai else "max_tokens": request.max_output_tokens,
        }
        temperature = self._options.temperature if request.temperature is None else request.temperature
        if temperature is not None:
            body["temperature"] = temperature
        return await self._client.ask(f"{self._options.base_url}/chat/completions", body, _read, model)

    def _model(self, asked: str | None) -> str | None:
        return asked or self._options.model or (MODEL if self._is_openai else None)


def _read(document: Mapping[str, Any]) -> JudgeReply:
    message, why = dig(document, "choices", 0, "message"), dig(document, "choices", 0, "finish_reason")
    if dig(message, "refusal") or why == "content_filter":
        raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
    content = dig(message, "content")
    if isinstance(content, list):  # some servers answer in parts
        content = "".join(part["text"] for part in content if isinstance(dig(part, "text"), str))
    text = written(content)
    if text is None:
        told = "the answer reached its limit of tokens before its first word" if why == "length" else "no text in it"
        raise Unanswered(FailureClass.PROTOCOL, f"the answer is empty: {told}")
    return JudgeReply(text=text, model=written(document.get("model")), usage=_usage(document.get("usage")))


def _usage(found: object) -> Usage | None:
    given, cached = count(dig(found, "prompt_tokens")), count(dig(found, "prompt_tokens_details", "cached_tokens"))
    return known(
        Usage(
            input_tokens=given if given is None or cached is None else max(0, given - cached),
            cache_read_tokens=cached,
            output_tokens=count(dig(found, "completion_tokens")),
            reasoning_tokens=count(dig(found, "completion_tokens_details", "reasoning_tokens")),
            total_tokens=count(dig(found, "total_tokens")),
        )
    )
