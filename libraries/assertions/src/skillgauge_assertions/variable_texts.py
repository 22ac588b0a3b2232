"""Texts with the signs of templates, which are put into variables so that they are looked for as they stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .rules import PROGRAMS

_SIGNS = ("{{", "{%", "{#")


def with_variables(assertions: Iterable[Any], variables: Mapping[str, Any]) -> tuple[list[Any], dict[str, str]]:
    """Return assertions in which texts with braces are variables, and those variables.

    Args:
        assertions: texts and objects; code is left as it is, since no variable is put into it.
        variables: those that there are already, whose names are not taken.
    """
    texts = _Texts(variables)
    return [texts.taken_out(assertion) for assertion in assertions], texts.added


class _Texts:
    """Texts on their way into variables.

    Args:
        variables: those that there are already.
    """

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.added: dict[str, str] = {}
        self._variables = variables

    def taken_out(self, assertion: Any) -> Any:
        """Return an assertion without the texts that are variables from now on."""
        if not isinstance(assertion, dict):
            return self._moved(assertion)
        is_code = str(assertion.get("type", "")).removeprefix("not-") in PROGRAMS
        if is_code or "value" not in assertion:
            return assertion
        return assertion | {"value": self._moved(assertion["value"])}

    def _moved(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._moved(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._moved(part) for part in value]
        if isinstance(value, str) and any(sign in value for sign in _SIGNS):
            return f"{{{{{self._name(value)}}}}}"
        return value

    def _name(self, text: str) -> str:
        for name, known in self.added.items():
            if known == text:
                return name
        number = len(self.added) + 1
        while (name := f"text_{number}") in self._variables or name in self.added:
            number += 1
        self.added[name] = text
        return name
