"""Tokens by the client credentials grant of OAuth 2 (RFC 6749, section 4.4): lent, kept while they last, lent anew."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable

import httpx

from skillgauge.api import FailureClass, keep_secret, secret, without_secrets
from skillgauge_model_client.outcomes import Unanswered, excerpt

from .options import SECRET, AcmeJudgeOptions

MARGIN_S = 30.0
"""A token is not used in its last seconds: it would expire on its way."""
SHORTEST_S = 1.0


class Tokens:
    """Lends a token when one is needed, once for all who ask meanwhile.

    Args:
        options: where, and who we are.
        clock: tells seconds that only go up.
    """

    def __init__(self, options: AcmeJudgeOptions, clock: Callable[[], float] = time.monotonic) -> None:
        self._options = options
        self._clock = clock
        self._turn = asyncio.Lock()
        self._token = ""
        self._until = 0.0

    async def current(self, *, refused: str = "") -> str:
        """A token that is good now, and is not the one that was refused.

        Raises:
            Unanswered: there is none.
        """
        async with self._turn:
            if not self._token or self._token == refused or self._clock() >= self._until:
                token, lasts_s = await self._lent()
                keep_secret("ACME_TOKEN", token)  # first of all: from here on it may stand in any answer
                self._token = token
                self._until = self._clock() + max(lasts_s - MARGIN_S, lasts_s / 2, SHORTEST_S)
            return self._token

    async def _lent(self) -> tuple[str, float]:
        own = secret(SECRET)
        if own is None:
            raise Unanswered(FailureClass.AUTH, f"there is no {SECRET}")
        form = {"grant_type": "client_credentials", "scope": self._options.scope}
        try:
            async with httpx.AsyncClient(timeout=self._options.timeout_s, trust_env=False) as client:
                answer = await client.post(self._options.token_url, data=form, auth=(self._options.client_id, own))
        except httpx.HTTPError as error:
            told = f"no token from {self._options.token_url}: {type(error).__name__}"
            raise Unanswered(FailureClass.NETWORK, told, retryable=True) from error
        if answer.status_code >= 500:
            told = f"no token: HTTP {answer.status_code}"
            raise Unanswered(FailureClass.SERVER, told, retryable=True)
        if not answer.is_success:
            said = excerpt(without_secrets(answer.text.replace(own, f"[redacted:{SECRET}]")))
            raise Unanswered(FailureClass.AUTH, f"no token: HTTP {answer.status_code}: {said}")
        try:
            told = json.loads(answer.text)
            return str(told["access_token"]), float(told.get("expires_in", 0))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise Unanswered(FailureClass.PROTOCOL, "what came instead of a token is not one") from None
