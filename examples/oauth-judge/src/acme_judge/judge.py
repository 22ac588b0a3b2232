"""Chat Completions with a lent token: how a question is written, and how an answer is read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage, secret
from skillgauge_model_client.answers import count, dig, known
from skillgauge_model_client.client import ModelClient
from skillgauge_model_client.judge import reply_of
from skillgauge_model_client.keys import Key
from skillgauge_model_client.outcomes import Unanswered

from .options import SECRET, AcmeJudgeOptions
from .tokens import Tokens


class AcmeJudge:
    """Asks a model by one request per question."""

    def __init__(self, options: AcmeJudgeOptions) -> None:
        self._options = options
        self._tokens = Tokens(options)
        self._clients: dict[str, ModelClient] = {}

    async def check(self) -> tuple[Problem, ...]:
        """Whether the secret is there and gets a token: found out before anything is paid."""
        if not secret(SECRET):
            hint = f"Set {SECRET}, or install an extension that resolves it."
            return (Problem("judge.no-key", f"judge 'acme-judge' has no {SECRET}", hint=hint),)
        try:
            await self._tokens.current()
        except Unanswered as unanswered:
            hint = f"Is {SECRET} the secret of client {self._options.client_id!r}?"
            return (Problem("judge.no-token", f"judge 'acme-judge' gets no token: {unanswered.told}", hint=hint),)
        return ()

    def identity(self, model: str | None) -> Identity:
        """Version, address and model; incomplete, since what is served may change at any time."""
        return Identity(
            name="acme-judge",
            version=version("acme-skillgauge-judge"),
            settings={"base_url": self._options.base_url, "model": model or self._options.model},
            service=self._options.base_url,
            complete=False,
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once; a token that was withdrawn before its time is no answer, so a new one is lent then."""
        try:
            token = await self._tokens.current()
            reply = await self._asked(token, request)
            if reply.failure_class is FailureClass.AUTH:
                reply = await self._asked(await self._tokens.current(refused=token), request)
        except Unanswered as unanswered:
            return unanswered.reply
        return reply

    async def _asked(self, token: str, request: JudgeRequest) -> JudgeReply:
        if token not in self._clients:
            headers = {"authorization": f"Bearer {token}"}
            self._clients = {token: ModelClient(Key("ACME_TOKEN", token), headers, self._options.timeout_s)}
        model = request.model or self._options.model
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}],
            "max_tokens": request.max_output_tokens,
            "temperature": request.temperature or 0.0,
        }
        return await self._clients[token].ask(f"{self._options.base_url}/chat/completions", body, _answer, model)


def _answer(document: Mapping[str, Any]) -> JudgeReply:
    usage = document.get("usage")
    used = Usage(input_tokens=count(dig(usage, "prompt_tokens")), output_tokens=count(dig(usage, "completion_tokens")))
    choice = dig(document, "choices", 0)
    return reply_of(
        dig(choice, "message", "content"),
        model=document.get("model"),
        usage=known(used),
        is_cut=dig(choice, "finish_reason") == "length",
    )
