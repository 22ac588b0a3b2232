"""Expressions of `-k`: which cases take part, by words in their ids, names and tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache

from ..errors import Problem, UsageError

Matches = Callable[[str], bool]
"""Tells whether a lower-case text fits an expression."""

_TOKEN = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+))""")
_OPERATORS = ("and", "or", "not")


@cache
def matcher(expression: str) -> Matches:
    """What an expression means: words that a text contains, whatever their case, with `and`, `or`, `not` and brackets.

    Raises:
        UsageError: it is no expression.
    """
    tokens = list(_tokens(expression))
    found, rest = _either(tokens, expression)
    if rest:
        raise _wrong(expression, f"{rest[0][1]!r} is left over")
    return found


def fits(expressions: Iterable[str], *texts: str) -> bool:
    """Whether texts, taken together, fit all of some expressions."""
    whole = "\n".join(texts).lower()
    return all(matcher(expression)(whole) for expression in expressions)


_Token = tuple[bool, str]
"""Whether it is quoted, and its text."""


def _tokens(expression: str) -> Iterable[_Token]:
    position, end = 0, len(expression.rstrip())
    while position < end:
        match = _TOKEN.match(expression, position)
        if match is None:
            raise _wrong(expression, "a quotation mark is never closed")
        bracket, double, single, word = match.groups()
        quoted = double if double is not None else single
        yield (False, bracket or word) if quoted is None else (True, quoted)
        position = match.end()


def _either(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    found, rest = _both(tokens, whole)
    if rest and _is(rest[0], "or"):
        other, rest = _either(rest[1:], whole)
        return lambda text: found(text) or other(text), rest
    return found, rest


def _both(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    found, rest = _single(tokens, whole)
    if rest and _is(rest[0], "and"):
        other, rest = _both(rest[1:], whole)
        return lambda text: found(text) and other(text), rest
    return found, rest


def _single(tokens: list[_Token], whole: str) -> tuple[Matches, list[_Token]]:
    if not tokens:
        raise _wrong(whole, "a word is missing at its end")
    (quoted, word), rest = tokens[0], tokens[1:]
    if _is(tokens[0], "not"):
        found, rest = _single(rest, whole)
        return lambda text: not found(text), rest
    if not quoted and word == "(":
        found, rest = _either(rest, whole)
        if not rest or rest[0] != (False, ")"):
            raise _wrong(whole, "a bracket is never closed")
        return found, rest[1:]
    if not quoted and (word in _OPERATORS or word == ")"):
        raise _wrong(whole, f"a word is missing before {word!r}")
    wanted = word.lower()
    return lambda text: wanted in text, rest


def _is(token: _Token, operator: str) -> bool:
    return token == (False, operator)


def _wrong(expression: str, why: str) -> UsageError:
    hint = "Write words with and, or, not and brackets: -k 'csv and not (slow or \"two words\")'."
    return UsageError(Problem("usage.keyword", f"-k {expression!r} is no expression: {why}", hint=hint))
