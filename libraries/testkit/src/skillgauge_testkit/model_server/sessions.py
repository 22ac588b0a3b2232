"""The grouping of requests into sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count

from .replies import ModelReply, TokenCount
from .requests import Conversation, ModelRequest, Role

_HEADERS = ("x-claude-code-session-id", "session-id", "session_id", "x-session-id")


@dataclass
class ModelSession:
    """The requests of one session of an agent, and the usage that it was told."""

    name: str
    requests: list[ModelRequest] = field(default_factory=list)
    """In the order in which they came."""
    tokens: TokenCount = field(default_factory=TokenCount)
    is_failed: bool = False
    """Whether its latest request met a fault, so that the same may come again."""


class SessionBook:
    """Finds the session of each request; to be used under a lock.

    The agent's own name for it decides, if a header tells one. Then the ids of earlier tool calls do. A conversation
    without either belongs to the latest session that began with the same words, unless it has just begun: then it is
    a new one, or the second try of one whose first request failed.
    """

    def __init__(self) -> None:
        self.sessions: dict[str, ModelSession] = {}
        """By name, in the order in which they began."""
        self._names = (f"session-{number}" for number in count(1))
        self._of_call: dict[str, ModelSession] = {}
        self._of_opening: dict[str, ModelSession] = {}

    def find(self, headers: Mapping[str, str], conversation: Conversation) -> ModelSession:
        """The session of a request, which may begin with it."""
        if name := next((headers[header] for header in _HEADERS if headers.get(header)), None):
            return self.sessions.setdefault(name, ModelSession(name))
        calls = (self._of_call.get(part.call_id) for part in reversed(conversation.parts) if part.call_id)
        if session_found := next((session for session in calls if session), None):
            return session_found
        opening = _opening(conversation)
        session = self._of_opening.get(opening)
        if session is None or not (session.is_failed or _goes_on(conversation)):
            session = ModelSession(next(self._names))
            self.sessions[session.name] = self._of_opening[opening] = session
        return session

    def answered(self, session: ModelSession, reply: ModelReply, calls: tuple[str, ...]) -> None:
        """Remember what a session was told."""
        for call in calls:
            self._of_call[call] = session
        session.is_failed = not reply.is_answer
        if reply.is_answer:
            session.tokens = session.tokens.plus(reply)


def _goes_on(conversation: Conversation) -> bool:
    return any(part.role is Role.MODEL for part in conversation.parts)


def _opening(conversation: Conversation) -> str:
    """A digest of all that was said before the model spoke first."""
    digest = hashlib.sha256()
    for part in conversation.parts:
        if part.role is Role.MODEL:
            break
        digest.update(f"{part.role}\0{part.text}\0".encode(errors="surrogatepass"))
    return digest.hexdigest()
