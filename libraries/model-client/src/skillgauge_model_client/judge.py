"""A judge that asks a model's API: what is alike whichever API it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

from skillgauge.api import FailureClass, Identity, JudgeReply, JudgeRequest, Problem, Usage

from .answers import written
from .keys import Key, find_headers, find_key
from .options import ModelOptions
from .outcomes import Unanswered
from .usages import priced

if TYPE_CHECKING:
    from .client import ModelClient


class ModelJudge(ABC):
    """Asks a model by one request per question.

    A subclass names the judge, where its key is found and which address is its own, and translates questions and
    answers.

    Args:
        options: address, model, temperature and time limit.
    """

    name: ClassVar[str]
    """As the user types it."""
    distribution: ClassVar[str] = ""
    """Name of the distribution, whose version is the judge's; `skillgauge-judge-<name>` if empty."""
    variables: ClassVar[tuple[str, ...]]
    """Environment variables that may hold the key; the first that is set counts."""
    usual_variable: ClassVar[str]
    """The one of them that a message recommends."""
    own_address: ClassVar[str]
    """The base URL that needs a key; other servers may do without."""
    default_model: ClassVar[str | None] = None
    """Asked at the own address where nobody names one."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Names of models that people use in place of an id; results name the id."""

    def __init__(self, options: ModelOptions) -> None:
        self._options = options
        self._variables = (options.key_variable,) if options.key_variable else self.variables
        self._key = find_key(self._variables)
        self._headers = find_headers(options.headers)

    @property
    def is_own_address(self) -> bool:
        """True if the vendor itself is asked, and not a server that speaks its language."""
        return self._options.base_url == self.own_address

    @abstractmethod
    def headers(self, key: Key | None) -> Mapping[str, str]:
        """Headers of every question."""

    @abstractmethod
    def question(self, model: str, request: JudgeRequest, temperature: float | None) -> tuple[str, dict[str, Any]]:
        """Path below the base URL, and body; without a temperature none is sent."""

    @abstractmethod
    def answer(self, document: Mapping[str, Any]) -> JudgeReply:
        """Return the content of an answer. Raises `Unanswered` if it holds none."""

    def further_settings(self) -> Mapping[str, str]:
        """Return options of its own that answers depend on, as far as they are set."""
        return {}

    async def check(self) -> tuple[Problem, ...]:
        """Check that there is a key, where one is needed, and a model. Nothing is sent."""
        problems = [*(self._key.problems() if self._key else ()), *self._headers.problems(f"judge {self.name!r}")]
        is_asked_for = self.is_own_address or self._options.key_variable is not None
        if self._key is None and is_asked_for and not self._options.headers:
            names = ", ".join(self._variables)
            message = f"judge {self.name!r} has no key: none of the environment variables {names} is set"
            address = f"--set judges.{self.name}.base_url=URL"
            recommended = self._options.key_variable or self.usual_variable
            hint = f"Set {recommended}, or name a server that needs no key: {address}."
            problems.append(Problem("judge.no-key", message, hint=hint))
        if self._model(None) is None:
            message = f"judge {self.name!r} does not know which model to ask at {self._options.base_url}"
            problems.append(Problem("judge.no-model", message, hint="Name the model with --judge-model."))
        return tuple(problems)

    def identity(self, model: str | None) -> Identity:
        """Version, address, model and temperature; incomplete, since what is served may change at any time."""
        options = self._options
        return Identity(
            name=self.name,
            version=version(self.distribution or f"skillgauge-judge-{self.name}"),
            settings={
                "base_url": options.base_url,
                "model": self._model(model),
                "temperature": options.temperature,
                **({"headers": options.header_names} if options.headers else {}),
                **self.further_settings(),
            },
            service=options.base_url,
            complete=False,
        )

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Ask once."""
        model = self._model(request.model)
        if model is None:
            return Unanswered(FailureClass.BAD_REQUEST, "no model is named: use --judge-model").reply
        unusable = (*(self._key.problems() if self._key else ()), *self._headers.problems(f"judge {self.name!r}"))
        if unusable:
            return Unanswered(FailureClass.AUTH, unusable[0].message).reply
        temperature = self._options.temperature if request.temperature is None else request.temperature
        path, body = self.question(model, request, temperature)
        reply = await self._client.ask(f"{self._options.base_url}{path}", body, self.answer, model)
        if reply.usage is None:
            return reply
        return reply.model_copy(update={"usage": priced(reply.usage, self._options.prices)})

    @cached_property
    def _client(self) -> ModelClient:
        from .client import ModelClient  # noqa: PLC0415 - httpx, which only a question needs

        headers = self._headers.beside(self.headers(self._key))
        return ModelClient(self._key, headers, self._options.timeout_s, further=self._headers.values)

    def _model(self, asked: str | None) -> str | None:
        model = asked or self._options.model or (self.default_model if self.is_own_address else None)
        return self.aliases.get(model, model) if model else None


def reply_of(text: object, *, model: object, usage: Usage | None, is_cut: bool) -> JudgeReply:
    """A reply with a text in it.

    Raises:
        Unanswered: there is no text; `is_cut` says whether the limit of tokens is the reason.
    """
    text_written = written(text)
    if text_written is None:
        reason = "the answer reached its limit of tokens before its first word" if is_cut else "no text in it"
        raise Unanswered(FailureClass.PROTOCOL, f"the answer is empty: {reason}")
    return JudgeReply(text=text_written, model=written(model), usage=usage)
