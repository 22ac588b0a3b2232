"""From a task's `expectedOutput` and `evaluator` to a check, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from skillgauge.api import EMPTY, Check, JsonObject, TextStyle
from skillgauge.api.report import AnswerStyle
from skillgauge_documents.immutables import immutable

from .files import EvaluatorFile, ExpectedFile, keys_of
from .findings import Findings, OriginOf
from .schemas import schema_faults

SCORERS: Mapping[str, str] = {
    "exact": "exact",
    "exact_match": "exact",
    "contains": "contains",
    "schema": "json-schema",
    "json_schema": "json-schema",
    "json-schema": "json-schema",
    "regex": "regex",
    "llm_judge": "rubric",
    "rubric": "rubric",
    "custom": "custom",
}
"""Evaluator names of eval-skills, all spellings, and the scorers that they mean. Any other name is a private scorer."""

DOCUMENT_NAMES: Mapping[str, str] = {
    "exact": "exact_match",
    "json-schema": "json_schema",
    "rubric": "llm_judge",
}
"""Scorers that the result document calls by another name."""
UNKNOWN_SCORER = "unknown"
"""Scorer type of a task that was not graded, in that document."""

_NEEDS: Mapping[str, tuple[str, str]] = {
    "exact": ("value", "value"),
    "contains": ("keywords", "keywords"),
    "json-schema": ("schema", "json_schema"),
    "regex": ("patterns", "patterns"),
}
"""What a scorer cannot do without: the key, and the field that holds it."""

_OWN: Mapping[str, tuple[str, ...]] = {
    "exact": ("value", "case_sensitive"),
    "contains": ("keywords", "case_sensitive"),
    "json-schema": ("schema",),
    "regex": ("patterns",),
    "rubric": ("criteria", "reference"),
    "custom": ("path", "expected"),
}
"""Options of scorers that a task says with keys of its own; the others stand in `evaluator.options`."""

_STYLES: Mapping[str, AnswerStyle] = {
    "exact": AnswerStyle(keys=("result", "output", "answer"), text=TextStyle.JAVASCRIPT),
    "contains": AnswerStyle(text=TextStyle.JAVASCRIPT_JSON),
    "regex": AnswerStyle(text=TextStyle.JAVASCRIPT_JSON),
    "rubric": AnswerStyle(text=TextStyle.JAVASCRIPT_JSON),
}
"""How eval-skills reads what was answered, where a scorer looks at its text."""

_SCALE, _PLAIN_SCALE = "0-10", "pass-fail"
"""The scale of a judge of eval-skills, and the one of a check that names none."""

DEFAULT_CRITERIA = "Is the output a correct and complete answer to the task?"
"""Asked of a judge where the task has no prompt for it."""


@immutable
class CheckMaker:
    """Makes the checks of one file's tasks."""

    evaluator: str | None
    """`--evaluator`, if given: the scorer of tasks whose `evaluator` names none."""
    folders: tuple[Path, ...]
    """Where scorer scripts are looked for, in this order; empty if the file has no place."""
    findings: Findings

    def make(self, task: JsonObject, origin_of: OriginOf) -> tuple[Check, dict[str, Any]] | None:
        """The check of a task and the keys around it without effect; `None` after noting what is wrong with it."""
        in_expected, in_evaluator = partial(origin_of, "expectedOutput"), partial(origin_of, "evaluator")
        raw, raw_evaluator = _part(task, "expectedOutput"), _part(task, "evaluator")
        if raw is None or raw_evaluator is None:
            return None
        evaluator = self.findings.validated(EvaluatorFile, raw_evaluator, in_evaluator)
        if evaluator is None:
            return None
        name = evaluator.type or self.evaluator or _expected_type(raw)
        scorer = SCORERS.get(name)
        if scorer is None:
            options = {**_without(raw, "type"), **_without(raw_evaluator, "type")}
            return Check(id=name, scorer=name, options=options, origin=in_expected()), {}
        expected = self.findings.validated(ExpectedFile, raw, in_expected)
        if expected is None or not self._complete(scorer, task, expected, origin_of):
            return None
        self.findings.unknown_keys(evaluator.model_extra, keys_of(EvaluatorFile), in_evaluator)
        self.findings.unknown_keys(expected.model_extra, keys_of(ExpectedFile), in_expected)
        unknown = {"expectedOutput": expected.model_extra, "evaluator": evaluator.model_extra}
        options = self._options(scorer, expected, evaluator, origin_of)
        files = {}
        if scorer == "custom":
            files = {name: _digest(path) for name, path in options.items()}
            # What the user's function is called with; where it lies is not its business.
            options["expected"] = {**_without(raw, "customScorerPath"), "type": "custom"}
        options |= evaluator.options
        if scorer == "rubric" and options["scale"] == _PLAIN_SCALE:
            del options["scale"]
        style = _STYLES.get(scorer, AnswerStyle())
        check = Check(id=scorer, scorer=scorer, options=options, files=files, answer=style, origin=in_expected())
        return check, {key: value for key, value in unknown.items() if value}

    def _complete(self, scorer: str, task: JsonObject, expected: ExpectedFile, origin_of: OriginOf) -> bool:
        key, field = _NEEDS.get(scorer, ("", ""))
        if not key or field in expected.model_fields_set:
            return True
        if task.get("expectedOutput") is None:
            message = f"task {task.get('id')!r}: 'expectedOutput' is missing"
            self.findings.error("missing-key", message, origin_of("expectedOutput"))
        else:
            message = f"task {task.get('id')!r}: {key!r} is missing, which scorer {scorer!r} compares with"
            self.findings.error("missing-key", message, origin_of("expectedOutput", key))
        return False

    def _options(
        self, scorer: str, expected: ExpectedFile, evaluator: EvaluatorFile, origin_of: OriginOf
    ) -> dict[str, Any]:
        case_sensitive = evaluator.case_sensitive
        if case_sensitive is None:
            case_sensitive = expected.case_sensitive
        options: dict[str, Any]
        match scorer:
            case "exact":
                strict = True if case_sensitive is None else case_sensitive
                options = {"value": expected.value, "case_sensitive": strict}
            case "contains":
                options = {"keywords": expected.keywords, "case_sensitive": bool(case_sensitive)}
                if not expected.keywords:
                    message = "no keyword is given, so every output passes"
                    self.findings.warning("no-check", message, origin_of("expectedOutput", "keywords"))
            case "json-schema":
                options = {"schema": expected.json_schema}
                for pointer, message in schema_faults(expected.json_schema):
                    self.findings.error("json-schema", message, origin_of("expectedOutput", "schema", *pointer))
            case "regex":
                options = {"patterns": expected.patterns}
            case "rubric":
                options = {"criteria": expected.judge_prompt or DEFAULT_CRITERIA, "scale": _SCALE}
                if expected.value is not None:
                    options["reference"] = expected.value
            case _:
                options = self._custom(expected, evaluator, origin_of)
        return options

    def _custom(self, expected: ExpectedFile, evaluator: EvaluatorFile, origin_of: OriginOf) -> dict[str, Any]:
        written = expected.custom_scorer_path or evaluator.custom_scorer_path
        holder = "expectedOutput" if expected.custom_scorer_path else "evaluator"
        if written is None:
            origin = origin_of("expectedOutput", "customScorerPath")
            self.findings.error("missing-key", "'customScorerPath' is missing", origin)
            return {}
        candidates = [folder / written for folder in self.folders] or [Path(written)]
        path = next((candidate for candidate in candidates if candidate.is_file()), None)
        if path is None:
            looked = " or ".join(str(folder) for folder in self.folders)
            message = f"scorer script {written!r} is not there{f' (looked in {looked})' if looked else ''}"
            self.findings.error("missing-file", message, origin_of(holder, "customScorerPath"))
            return {}
        if self.folders and not any(path.resolve().is_relative_to(folder.resolve()) for folder in self.folders):
            message = f"scorer script {written!r} lies outside of {' and '.join(dict.fromkeys(map(str, self.folders)))}"
            self.findings.error("escaping-path", message, origin_of(holder, "customScorerPath"))
            return {}
        return {"path": str(path)}


def _digest(path: str) -> str:
    """Return the digest of a script's content; the folder where it lies makes no other suite."""
    return sha256(Path(path).read_bytes()).hexdigest()


def _part(task: JsonObject, key: str) -> JsonObject | None:
    """A part of a task, empty if it is absent; `None` if it is no object, which the task's own model reports."""
    part = task.get(key)
    if part is None:
        return EMPTY
    return part if isinstance(part, Mapping) else None


def _expected_type(expected: JsonObject) -> str:
    """The evaluator that `expectedOutput` names by its `type`."""
    name = expected.get("type")
    return name if isinstance(name, str) else "exact"


def _without(part: JsonObject, key: str) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != key}


def expectation(check: Check) -> tuple[dict[str, Any], dict[str, Any]]:
    """`expectedOutput` and `evaluator` of a check: the inverse of `CheckMaker.make`."""
    own = _OWN.get(check.scorer)
    if own is None:
        return {"type": check.scorer, **check.options}, {"type": check.scorer}
    if check.scorer == "rubric":
        check = check.model_copy(update={"options": _asked(check.options)})
    options = {key: value for key, value in check.options.items() if key in own}
    expected, evaluator = _in_own_keys(check.scorer, options)
    further = _further_options(check, own)
    if further:
        evaluator["options"] = further
    return {"type": evaluator["type"], **expected}, evaluator


def _asked(options: JsonObject) -> JsonObject:
    """Return options of a rubric with one text for the judge, which is all that a task can ask; its scale is told."""
    asked = options.get("criteria") or options.get("claims") or DEFAULT_CRITERIA
    text = "\n".join(map(str, asked)) if isinstance(asked, tuple) else asked
    others = {key: value for key, value in options.items() if key not in ("criteria", "claims")}
    return {"scale": _PLAIN_SCALE, **others, "criteria": text}


def _in_own_keys(scorer: str, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of a scorer that have keys in a task: in `expectedOutput`, and in `evaluator`."""
    match scorer:
        case "exact" | "contains":
            strict = options.pop("case_sensitive", None)
            return options, {"type": scorer} if strict is None else {"type": scorer, "caseSensitive": strict}
        case "json-schema":
            return options, {"type": "json_schema"}
        case "rubric":
            criteria = options.pop("criteria", DEFAULT_CRITERIA)
            return {"judgePrompt": criteria, **_renamed(options)}, {"type": "llm_judge"}
        case "custom":
            arguments = options.pop("expected", None)
            rest = arguments if isinstance(arguments, Mapping) else {}
            return {**rest, "customScorerPath": options.pop("path", "")}, {"type": scorer}
        case _:
            return options, {"type": scorer}


def _further_options(check: Check, own: tuple[str, ...]) -> dict[str, Any]:
    """The options that no key of a task says; the scale of a judge is the same for all of them."""
    implied = {"scale": _SCALE} if check.scorer == "rubric" else {}
    return {key: value for key, value in check.options.items() if key not in own and implied.get(key) != value}


def _renamed(options: JsonObject) -> dict[str, Any]:
    return {"value" if key == "reference" else key: value for key, value in options.items()}
