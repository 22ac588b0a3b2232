"""The Messages API of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage

from .client import ModelClient, count, dig, find_key, known, written
from .options import BASE_URL, VARIABLES, AnthropicOptions
from .outcomes import Unanswered

_API_VERSION = "2023-06-01"


class AnthropicJudge:
    """Asks a model by one request per question."""

    def __init__(self, options: AnthropicOptions) -> None:
        self._options = options
        self._key = find_key(VARIABLES)
        key = {"x-api-key": self._key.value} if self._key else {}
        self._client = ModelClient(self._key, {"anthropic-version": _API_VERSION, **key}, options.timeout_s)

    async def check(self) -> tuple[Problem, ...]:
        """Whether there is a key, where one is needed, and a model. Nothing is sent."""
        problems = list(self._key.problems() if self._key else ())
        if self._key is None and self._options.base_url == BASE_URL:
            names = ", ".join(VARIABLES)
            message = f"judge 'anthropic' has no key: none of the environment variables {names} is set"
            hint = "Set ANTHROPIC_API_KEY, or name a server that needs no key: --set judges.anthropic.base_url=URL."
            problems.append(Problem("judge.no-key", message, hint=hint))
        if self._model(None) is None:
            message = "judge 'anthropic' does not know which model to ask"
            problems.append(Problem("judge.no-model", message, hint="Name the model with --judge-model."))
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """The judge's version, the address and the model; incomplete, since what is served may change at any time."""
        return Identity(
            name="anthropic",
            version=version("skillgauge-judge-anthropic"),
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
            "max_tokens": request.max_output_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
        }
        temperature = self._options.temperature if request.temperature is None else request.temperature
        if temperature is not None:
            body["temperature"] = temperature
        return await self._client.ask(f"{self._options.base_url}/v1/messages", body, _read, model)

    def _model(self, asked: str | None) -> str | None:
        return asked or self._options.model


def _read(document: Mapping[str, Any]) -> JudgeReply:
    why, content = document.get("stop_reason"), document.get("content")
    if why == "refusal":
        raise Unanswered(FailureClass.REFUSED, "the model refused to answer")
    parts = content if isinstance(content, list) else []
    # Blocks of other types are the model's thinking.
    found = [dig(part, "text") for part in parts if dig(part, "type") == "text"]
    text = written("".join(part for part in found if isinstance(part, str)))
    if text is None:
        is_cut = why == "max_tokens"
        told = "the answer reached its limit of tokens before its first word" if is_cut else "no text in it"
        raise Unanswered(FailureClass.PROTOCOL, f"the answer is empty: {told}")
    return JudgeReply(text=text, model=written(document.get("model")), usage=_usage(document.get("usage")))


def _usage(found: object) -> Usage | None:
    return known(
        Usage(
            input_tokens=count(dig(found, "input_tokens")),  # without what a cache held, other than elsewhere
            cache_read_tokens=count(dig(found, "cache_read_input_tokens")),
            cache_write_tokens=count(dig(found, "cache_creation_input_tokens")),
            output_tokens=count(dig(found, "output_tokens")),
        )
    )
