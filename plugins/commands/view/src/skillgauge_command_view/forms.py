"""The words of requests: of queries, and of forms as browsers send them. Whatever is no such word counts as absent."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

_LONGEST = 200
"""Characters of a filter that are looked at."""
_LARGEST_FORM = 262_144
"""Bytes of a form."""


def words_of(request: Request) -> dict[str, str]:
    """The words of a query; of a long one the beginning."""
    return {name: value[:_LONGEST] for name, value in request.query_params.items()}


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form as browsers send it without files; of a name that comes twice the last counts."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_FORM:
            raise HTTPException(413, "The form is too large.")
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=20, errors="strict"))
    except ValueError:
        raise HTTPException(400, "This is no form.") from None


def page_of(words: Mapping[str, str]) -> int:
    """The page that a query names, from 1."""
    return max(1, number_of(words.get("page", "1")))


def number_of(text: str) -> int:
    """A number from 1; 1 for any other text."""
    return count_of(text, 1)


def count_of(text: str, otherwise: int = 0) -> int:
    """A number from 0; `otherwise` for any other text."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise
