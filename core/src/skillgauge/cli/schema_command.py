"""`schema`: print the JSON Schema of a document that skillgauge or a plugin writes or reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import click

from skillgauge_documents import thaw
from skillgauge_documents.frozen import JsonObject

from ..contract.providers import imported
from ..errors import ExitCode, Problem, UsageError, did_you_mean
from ..evaluation.invocation import Invocation, invocation
from ..plugins.installed import read_index
from ..plugins.kinds import KINDS
from .options import GlobalsCommand

Schemas = dict[str, Callable[[], Any]]


def _built_in() -> Schemas:
    from ..evaluation.eval_document import EvalDocument  # noqa: PLC0415
    from ..evaluation.planned.document import PlanDocument  # noqa: PLC0415
    from .case_list import CaseList  # noqa: PLC0415 - slow, and `--help` needs none of it
    from .plugins_document import PluginsDocument  # noqa: PLC0415

    return {
        "cases": CaseList.model_json_schema,
        "eval": EvalDocument.model_json_schema,
        "dry-run": PlanDocument.model_json_schema,
        "plugins": PluginsDocument.model_json_schema,
    }


def published_schemas(call: Invocation) -> Schemas:
    """Return the function that makes each schema, by the name of the document."""
    schemas = _built_in()
    for kind in KINDS:
        if kind == "extensions":
            continue
        for resolved in call.registry.load_all(kind):
            if resolved.provider.schemas:
                schemas |= _thawing(imported(resolved.provider.schemas)())
    return schemas | _of_commands(call)


def _thawing(published: Mapping[str, JsonObject]) -> Schemas:
    return {name: partial(thaw, schema) for name, schema in published.items()}


def _of_commands(call: Invocation) -> Schemas:
    """Return the schemas that commands of plugins publish by a function `schemas`; a broken one is only mentioned."""
    schemas: Schemas = {}
    for entry in read_index().entries("commands"):
        if entry.problem:
            continue
        try:
            module = import_module(entry.module.partition(":")[0])
        except Exception as error:  # noqa: BLE001 - isolation point: the other commands' schemas are still wanted
            call.output.notice(f"command {entry.name!r} cannot be loaded: {type(error).__name__}: {error}")
            continue
        publish = getattr(module, "schemas", None)
        if publish is not None:
            schemas |= _thawing(publish())
    return schemas


def _schema(name: str | None) -> int:
    call = invocation(click.get_current_context().obj)
    schemas = published_schemas(call)
    if name is None:
        call.output.document(sorted(schemas))
        for known in sorted(schemas):
            call.output.line(known)
        return ExitCode.OK
    if name not in schemas:
        message = f"no document is called {name!r}{did_you_mean(name, tuple(schemas))}"
        raise UsageError(Problem("usage.no-schema", message, hint=f"Known: {', '.join(sorted(schemas))}."))
    schema = schemas[name]()
    call.output.document(schema)
    call.output.line(json.dumps(schema, indent=2, ensure_ascii=False))
    return ExitCode.OK


command = GlobalsCommand(
    "schema",
    params=[click.Argument(["name"], required=False)],
    callback=_schema,
    examples=(
        "skillgauge schema",
        "skillgauge schema eval",
    ),
    help="Print the JSON Schema of a document; without a name, list the names.",
)
