"""The contract of judges that ask the API of a vendor over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from skillgauge.api import Judge, JudgeReply, JudgeRequest, Problem, Provider, Severity

from ..model_server import ModelFault, ModelReply, ModelRequest, ModelServer
from .agents import check_judge
from .clauses import called, require, shown
from .redirects import check_redirects

JUDGE_KEY = "canary/key+0123456789"
"""The key that judges have during the check."""
JUDGE_QUESTION = JudgeRequest(system="be strict", user="how good?", model="m-1", temperature=0, max_output_tokens=99)
"""A question that names everything which a question can name."""

_UNUSABLE_PROXY = "http://127.0.0.1:1"
_UNUSABLE_KEYS = ("short", "canary key with blanks", "canary-kéy")
_NO_TEXT: tuple[tuple[ModelReply, str], ...] = (
    (ModelReply(fault=ModelFault.UNAUTHORIZED), "auth: HTTP 401 Unauthorized: the key is not valid"),
    (ModelReply(fault=ModelFault.REFUSED), "refused: the model refused"),
    (ModelReply("", is_cut=True), "protocol: the answer is empty: the answer reached its limit"),
    (ModelReply(""), "protocol: the answer is empty: no text"),
    (ModelReply(document={}), "protocol: the answer is empty: no text"),
)


def check_model_judge(provider: Provider[Judge], *, key_variable: str, path: str = "") -> None:
    """Check a judge that asks the API of a vendor: key, model, temperature, failures and problems.

    Its options have `base_url`, `model`, `temperature` and `timeout_s`, as `ModelOptions` of `skillgauge-model-client`
    gives them; at the address that is the default of `base_url` it needs a key and knows a default model.

    Example::

        def test_judge():
            (provider,) = plugin.skillgauge_judges()
            check_model_judge(provider, key_variable="ACME_API_KEY", path="/v1")

    Args:
        provider: of the judge.
        key_variable: the variable among `traits.secrets` that a message recommends.
        path: follows the server's address in a base URL.

    Raises:
        AssertionError: a clause is broken; the sentence says which.
    """
    check = _Check(provider, key_variable, path)
    with surroundings_of(provider, key_variable):
        check.contract()
        check.settings()
        check.answers_without_text()
        check.temperature_that_a_model_refuses()
        check.problems()
    with surroundings_of(provider, None):
        check.without_key()
    check_redirects(provider)


@contextmanager
def surroundings_of(provider: Provider[Judge], key_variable: str | None) -> Iterator[None]:
    """Set the environment of a judge for the time of a check: one key or none, and proxies that nothing may use."""
    changes: dict[str, str | None] = dict.fromkeys(provider.traits.secrets)
    changes |= {"HTTP_PROXY": _UNUSABLE_PROXY, "ALL_PROXY": _UNUSABLE_PROXY}
    if key_variable is not None:
        changes[key_variable] = JUDGE_KEY
    with _environment(changes):
        yield


def ask_judge(
    provider: Provider[Judge], server: ModelServer, *replies: ModelReply, request: JudgeRequest, **options: Any
) -> JudgeReply:
    """Ask a scripted server one question.

    Args:
        provider: of the judge.
        server: gives the replies, in their order.
        replies: what it answers.
        request: the question.
        options: of the judge, `base_url` among them.

    Returns:
        The judge's reply, in which its key never stands.
    """
    server.enqueue(*replies)
    judge = provider.make(provider.options.model_validate({"timeout_s": 10, **options}))
    reply = asyncio.run(judge.ask(request))
    require(JUDGE_KEY not in reply.model_dump_json(), f"{provider.name}: a reply must not hold the key of the judge")
    return reply


@dataclass(frozen=True)
class _Check:
    """Asks the judge about one clause after the other."""

    provider: Provider[Judge]
    key_variable: str
    path: str

    def contract(self) -> None:
        """It keeps the contract of all judges, also with a server that reports no usage."""

        def answer(request: ModelRequest) -> ModelReply:
            word = request.text.rpartition("\n")[2]
            silent = ModelReply("8", None, None)
            wrong = ModelReply(fault=ModelFault.UNAUTHORIZED, message=f"not {JUDGE_KEY}")
            return {"silent": silent, "fail": wrong, "wait": ModelReply("8", delay_s=5)}.get(word, ModelReply("8"))

        good, silent, fail, wait = (
            JUDGE_QUESTION.model_copy(update={"user": word}) for word in ("good", "silent", "fail", "wait")
        )
        with ModelServer(answer) as server:
            options = self._options(server, {"model": "m-1"})
            check_judge(
                lambda: self._judge(options), good=good, silent=silent, failing=fail, slow=wait, secret=JUDGE_KEY
            )

    def settings(self) -> None:
        """Model and temperature of the options count where the question has none; the question's go first."""
        bare = JudgeRequest(system="s", user="u")
        with ModelServer() as server:
            self._ask(server, ModelReply("8"), model="m-2")
            self._ask(server, ModelReply("8"), request=bare, model="m-2", temperature=0.5)
            self._ask(server, ModelReply("8"), request=bare, model="m-2", temperature=None)
            unnamed = self._ask(server, request=bare)
            requests = list(server.requests)
        wanted = [("m-1", True), ("m-2", True), ("m-2", False)]
        asked = [(request.model, _has_temperature(request)) for request in requests]
        clause = "model and temperature must be the question's, else those of the options, and null must send none"
        self._require(asked == wanted, f"{clause}; it asked {asked}")
        self._require(all(request.key == JUDGE_KEY for request in requests), "it must send its key as a header")
        self._require_error(unnamed, "bad_request: no model is named: use --judge-model")

    def answers_without_text(self) -> None:
        """Each way of not answering is an error with its class, never a text."""
        for reply, error in _NO_TEXT:
            with ModelServer() as server:
                self._require_error(self._ask(server, reply), error)

    def temperature_that_a_model_refuses(self) -> None:
        """It is left out once the model says that it takes none; any other bad request is an error."""
        unsupported = ModelReply(fault=ModelFault.BAD_REQUEST, message="Unsupported value: 'temperature'")
        with ModelServer() as server:
            reply = self._ask(server, unsupported, ModelReply("8"))
            sent = [_has_temperature(request) for request in server.requests]
            self._require(reply.text == "8", f"it must ask again without a temperature, but gave {shown(reply)}")
            self._require(sent == [True, False], f"it must leave the temperature out when it asks again; sent: {sent}")
            out_of_range = ModelReply(fault=ModelFault.BAD_REQUEST, message="temperature: must be at most 1")
            self._require_error(self._ask(server, out_of_range), "bad_request")

    def problems(self) -> None:
        """A key that cannot be used and an unknown model are found before anything is sent."""
        self._require(not self._found({}), f"at its own address it must need no more than {self.key_variable}")
        no_model = self._found({"base_url": f"{_UNUSABLE_PROXY}{self.path}"})
        codes = [(problem.code, problem.severity) for problem in no_model]
        is_error = codes == [("judge.no-model", Severity.ERROR)] and "--judge-model" in str(no_model[0])
        self._require(is_error, "at another address it must say that no model is known, and name --judge-model")
        for wrong in _UNUSABLE_KEYS:
            with _environment({self.key_variable: wrong}):
                found = self._found({"model": "m"})
                reply = asyncio.run(self._judge({}).ask(JUDGE_QUESTION))
            self._require([problem.code for problem in found] == ["judge.key"], f"it must refuse the key {wrong!r}")
            told = self.key_variable in found[0].message and wrong not in str(found[0])
            self._require(told, f"its problem must name {self.key_variable} and not the key {wrong!r}")
            self._require_error(reply, "auth: ")

    def without_key(self) -> None:
        """The vendor's own address needs a key; another one is asked without."""
        found = self._found({"model": "m"})
        names = ", ".join(self.provider.traits.secrets)
        told = [problem.code for problem in found] == ["judge.no-key"] and names in found[0].message
        self._require(told, f"without a key check must name {names}, but found {shown(found)}")
        with ModelServer() as server:
            self._require(not self._found(self._options(server, {"model": "m"})), "another address must need no key")
            reply = self._ask(server, ModelReply("8"))
            (request,) = server.requests
        self._require(reply.text == "8", f"it must ask another address without a key, but gave {shown(reply)}")
        self._require(request.key is None, f"without a key it must send none, but sent {shown(request.key)}")

    def _options(self, server: ModelServer, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"base_url": f"{server.url}{self.path}/", **options}

    def _judge(self, options: Mapping[str, Any]) -> Judge:
        return called(
            f"making {self.provider.name}", self.provider.make, self.provider.options.model_validate(dict(options))
        )

    def _ask(
        self, server: ModelServer, *replies: ModelReply, request: JudgeRequest = JUDGE_QUESTION, **options: Any
    ) -> JudgeReply:
        return ask_judge(self.provider, server, *replies, request=request, **self._options(server, options))

    def _found(self, options: Mapping[str, Any]) -> tuple[Problem, ...]:
        return asyncio.run(self._judge(options).check())

    def _require(self, holds: object, clause: str) -> None:
        require(holds, f"judge {self.provider.name!r}: {clause}")

    def _require_error(self, reply: JudgeReply, error: str) -> None:
        begins = reply.text is None and (reply.error or "").startswith(error)
        self._require(begins, f"the error must begin with {error!r}, but it gave {shown(reply)}")


def _has_temperature(request: ModelRequest) -> bool:
    return '"temperature"' in json.dumps(request.body)


@contextmanager
def _environment(changes: Mapping[str, str | None]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
