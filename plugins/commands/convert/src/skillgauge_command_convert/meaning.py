"""The options of checks as they take effect, by the options models of the installed scorers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pydantic import BaseModel, ValidationError

from skillgauge.api import Check, JsonObject, JsonValue, PluginError, Suite, freeze, thaw

SCORERS = "scorers"
ModelOf: TypeAlias = Callable[[str, str], type[BaseModel] | None]
"""Finds the options model of an installed plugin by its kind and name, or raises `PluginError`."""


_NUMBERED = re.compile(r" \(\d+\)$")
"""How formats tell checks of one name apart."""


class MeaningOfOptions:
    """Makes the options of a check without what would hold anyway, so that two spellings of the same are equal.

    Args:
        model_of: finds the options of an installed scorer.
    """

    def __init__(self, model_of: ModelOf) -> None:
        self._model_of = model_of
        self._models: dict[str, type[BaseModel] | None] = {}

    def __call__(self, check: Check) -> JsonObject:
        """Return the options that take effect, without a name that repeats what the check is called."""
        model = self._model(check.scorer)
        if model is None:
            return check.options
        names = {key for key, value in check.options.items() if _is_name(model, key, value, check.id)}
        return {key: value for key, value in self.plain(check).items() if key not in names}

    def plain(self, check: Check) -> JsonObject:
        """Return the options that take effect; those that stand there, if no installed scorer knows them."""
        model = self._model(check.scorer)
        if model is None:
            return check.options
        try:
            read = model.model_validate(thaw(check.options))
        except ValidationError:  # a check that could not run is taken as it stands
            return check.options
        effective = freeze(read.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        assert isinstance(effective, Mapping)
        return effective

    def plainly(self, suite: Suite) -> Suite:
        """Return a suite that says nothing that holds anyway, so that every format can write it.

        Repeats that are the same for all cases are those of the suite.
        """
        cases = tuple(
            case.model_copy(
                update={"checks": tuple(one.model_copy(update={"options": self.plain(one)}) for one in case.checks)}
            )
            for case in suite.cases
        )
        runs = {case.runs or suite.defaults.runs for case in cases}
        if len(runs) == 1 and any(case.runs for case in cases):
            cases = tuple(case.model_copy(update={"runs": None}) for case in cases)
            defaults = suite.defaults.model_copy(update={"runs": runs.pop()})
            return suite.model_copy(update={"cases": cases, "defaults": defaults})
        return suite.model_copy(update={"cases": cases})

    def _model(self, scorer: str) -> type[BaseModel] | None:
        if scorer not in self._models:
            try:
                self._models[scorer] = self._model_of(SCORERS, scorer)
            except PluginError:
                self._models[scorer] = None
        return self._models[scorer]


def _is_name(model: type[BaseModel], key: str, value: JsonValue, check: str) -> bool:
    """Tell whether an option repeats what its check is called, and is empty where it does not."""
    field = model.model_fields.get(key)
    return field is not None and field.default == "" and value in (check, _NUMBERED.sub("", check))
