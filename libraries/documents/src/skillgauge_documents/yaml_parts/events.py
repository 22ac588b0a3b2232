"""Events of YAML text, from PyYAML's parser."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from ..faults import DocumentError, Fault, place_at
from ..slips import next_step_in_yaml

TAG = "tag:yaml.org,2002:"


@cache
def pyyaml() -> Any:
    """PyYAML, whose import only YAML files should cost."""
    import yaml  # noqa: PLC0415 - see above

    return yaml


@cache
def loader_class() -> Any:
    """PyYAML's fastest loader without timestamps: a date stays the text that it is in JSON."""
    yaml = pyyaml()
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, pattern) for tag, pattern in pairs if tag != f"{TAG}timestamp"]
        for first, pairs in base.yaml_implicit_resolvers.items()
    }
    return type("JsonLoader", (base,), {"yaml_implicit_resolvers": resolvers})


def events_of(text: str) -> Iterator[Any]:
    """The events of a text. Raises `DocumentError` where it cannot be parsed."""
    yaml = pyyaml()
    try:
        yield from yaml.parse(text, loader_class())
    except yaml.reader.ReaderError as error:
        odd = yaml.reader.Reader.NON_PRINTABLE.search(text)
        place = place_at(text, odd.start() if odd else 0)
        message = "contains a control character, which YAML forbids"
        raise DocumentError(Fault("syntax", message, *place)) from error
    except yaml.MarkedYAMLError as error:
        message = ", ".join(part for part in (error.context, error.problem) if part)
        raise DocumentError(slip_at(message, error.problem_mark or error.context_mark)) from error


def slip_at(message: str, mark: Any) -> Fault:
    """The fault that a text cannot be parsed at a mark."""
    return Fault("syntax", message, mark.line + 1, mark.column + 1, next_step_in_yaml(message))


def place_of(event: Any) -> tuple[int, int]:
    """Line and column at which an event begins, from 1."""
    return event.start_mark.line + 1, event.start_mark.column + 1
