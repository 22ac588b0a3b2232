"""The judges of a case, its own or those of all cases, and the verdict that they give together with `expect`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillgauge.api import Check, FileSpec, JsonValue, VerdictMode, VerdictRule
from skillgauge_skill_folders import file_spec

from .drafts import COMMAND, RUBRIC, Draft, names
from .files import CaseFile, EvalFile, JudgeFile
from .reading import Pointer, Reading
from .rules import rules

SCRIPT_TIMEOUT_S, LONGEST_S = 30, 3600
PASS_THRESHOLD = 0.7
RULES, SCRIPT, AGENT = "rule_based", "script", "agent_judge"
_TRANSCRIPT = "EVAL_TRANSCRIPT_PATH"
_VARIABLES = f'EVAL_FINAL_MESSAGE="$RESPONSE_TEXT" EVAL_EXIT_CODE=0 {_TRANSCRIPT}= '
_PROVIDERS = ("anthropic/", "openai/")
_OF_TYPE = {
    RULES: ("success", "failure"),
    SCRIPT: ("script_path",),
    AGENT: ("criteria", "pass_threshold", "model", "context", "skills"),
}
"""Keys that mean something for a judge of one type alone."""
_DECIDING = {"success", "failure", "script_path", "criteria"}
_INHERITED = {RULES: (), SCRIPT: ("timeout_seconds",), AGENT: ("model", "pass_threshold")}
"""Keys that a judge of a case takes from that of all cases where it has none, as far as they mean something."""


@dataclass(frozen=True)
class Judge:
    """A judge of a case, and where it stands."""

    file: JudgeFile
    reading: Reading
    place: Pointer

    @property
    def model(self) -> str | None:
        """The model that it asks, without the name of a well-known provider before it."""
        model = self.file.model
        for provider in _PROVIDERS:
            model = model.removeprefix(provider) if model is not None else None
        return model if self.file.type == AGENT else None


@dataclass(frozen=True)
class Verdict:
    """The checks of one judge, and how many of them have to hold."""

    judge: Judge
    drafts: tuple[Draft, ...]
    least: int
    threshold: float = 1.0
    """The share of them that has to hold, as it is written."""
    files: tuple[FileSpec, ...] = ()

    @property
    def may_miss_some(self) -> bool:
        """True if not all of them have to hold."""
        return self.least < len(self.drafts)


def script_command(path: str) -> str:
    """Return the command that runs a script as skill-up does; the transcript of the session is nowhere to be read."""
    return f"{_VARIABLES}{shlex.quote(f'./{path}')}"


def script_of(command: str) -> str | None:
    """Return the path of the script that such a command runs; `None` if it is another one."""
    if not command.startswith(_VARIABLES):
        return None
    try:
        words = shlex.split(command.removeprefix(_VARIABLES))
    except ValueError:  # a quotation is open
        return None
    path = words[0].removeprefix("./") if len(words) == 1 else ""
    return path if script_command(path) == command else None


def least_of(count: int, threshold: float) -> int:
    """Return how many of so many criteria have to hold, so that their share reaches a threshold."""
    return next(number for number in range(count + 1) if (number / count if count else 1.0) >= threshold)


def judges_of(suite: Reading, common: EvalFile, reading: Reading, case: CaseFile) -> list[Judge]:
    """The judges that decide on a case: its own in place of those of all cases."""
    if case.judges is not None:
        if case.judge != JudgeFile():
            reading.refuse("a case has `judge` or `judges`, and not both", "judge", hint="Take one of them out.")
        return _listed(reading, case.judges)
    if case.judge.type is not None:
        judge = case.judge if common.judges is not None else _inheriting(case.judge, common.judge)
        return [Judge(judge, reading, ("judge",))]
    if case.judge != JudgeFile():
        hint = "Give it a type: rule_based, script or agent_judge."
        reading.refuse("a judge without `type` is not looked at by skill-up", "judge", hint=hint)
    if common.judges is not None:
        return _listed(suite, common.judges)
    return [Judge(common.judge, suite, ("judge",))] if common.judge.type is not None else []


def common_judge(suite: Reading, common: EvalFile) -> None:
    """Refuse what cannot be the judge of all cases, whichever of them it decides on."""
    if common.judges is not None and common.judge != JudgeFile():
        suite.refuse("a suite has `judge` or `judges`, and not both", "judge", hint="Take one of them out.")
    elif common.judge.type is None and set(_set_keys(common.judge)) & _DECIDING:
        hint = "Give it a type: rule_based, script or agent_judge."
        suite.refuse("a judge without `type` is not looked at by skill-up", "judge", hint=hint)


def _listed(reading: Reading, judges: Sequence[JudgeFile]) -> list[Judge]:
    if not judges:
        reading.refuse("there is no judge in this list", "judges", hint="Add one, or take the key out.")
    ids = [judge.id for judge in judges]
    for number, judge in enumerate(judges):
        if judge.type is None or judge.id is None or judge.id in ids[:number]:
            hint = "Give each an `id` of its own and a `type`."
            reading.refuse("a judge of a list needs a type, and an id that no other has", "judges", number, hint=hint)
    return [Judge(judge, reading, ("judges", number)) for number, judge in enumerate(judges)]


def _inheriting(judge: JudgeFile, common: JudgeFile) -> JudgeFile:
    keys = _INHERITED[judge.type or RULES]
    inherited = {key: getattr(common, key) for key in keys if getattr(judge, key) is None}
    return judge.model_copy(update=inherited)


def verdict_of(judge: Judge, default_model: str | None, turns: int) -> Verdict:
    """The checks of a judge.

    Args:
        judge: the judge.
        default_model: the model that judges of this suite ask if a check names none.
        turns: how many the case has written as such; none if it has a prompt.
    """
    _tell_unused(judge)
    if judge.file.type == RULES:
        drafts = tuple(rules(judge.file, judge.reading, judge.place, turns))
        return Verdict(judge, drafts, len(drafts))
    return _script(judge) if judge.file.type == SCRIPT else _criteria(judge, default_model)


def _set_keys(judge: JudgeFile) -> list[str]:
    """The keys of a judge that say something."""
    return [key for key in JudgeFile.model_fields if getattr(judge, key) not in (None, ())]


def _tell_unused(judge: Judge) -> None:
    others = {key: kind for kind, keys in _OF_TYPE.items() for key in keys if kind != judge.file.type}
    for key in judge.file.model_fields_set:
        if key in others and getattr(judge.file, key) not in (None, ()):
            message = f"{key} has no effect on a judge of type {judge.file.type}"
            judge.reading.tell(message, *judge.place, key)


def _script(judge: Judge) -> Verdict:
    file, place = judge.file, (*judge.place, "script_path")
    timeout_s = file.timeout_seconds or SCRIPT_TIMEOUT_S
    if timeout_s > LONGEST_S:
        message = f"a script may take {LONGEST_S} seconds at most"
        judge.reading.refuse(message, *judge.place, "timeout_seconds", hint=f"Write {LONGEST_S}, or less.")
    if file.script_path is None:
        hint = "Name it: script_path: evals/scripts/check.sh"
        judge.reading.refuse("a judge of type script needs script_path", *judge.place, hint=hint)
        return Verdict(judge, (), 0)
    path = judge.reading.place(file.script_path, *place)
    if path is None:
        return Verdict(judge, (), 0)
    if _TRANSCRIPT in judge.reading.text(path, *place):
        hint = "Look at EVAL_FINAL_MESSAGE and at files; tool_called and agent_judge look at what an agent did."
        judge.reading.refuse(f"the script reads {_TRANSCRIPT}, and there is no transcript here", *place, hint=hint)
    relative = judge.reading.relative(path)
    options: dict[str, JsonValue] = {
        "command": script_command(relative),
        "fail_codes": "any",
        "label": f"script {relative}",
        "timeout_s": float(timeout_s),
    }
    script = file_spec(path, relative).model_copy(update={"executable": True})
    draft = Draft(COMMAND, options, judge.reading.document.origin(*place))
    return Verdict(judge, (draft,), 1, files=(script,))


def _criteria(judge: Judge, default_model: str | None) -> Verdict:
    if not judge.file.criteria:
        hint = "List what a good answer is: criteria: [...]"
        judge.reading.refuse("a judge of type agent_judge needs criteria", *judge.place, hint=hint)
    notices = {
        "context": "a judge sees the answer, what was done and the files that changed, whatever context says",
        "skills": "a judge has no skills of its own: write what it has to know into the criteria",
        "timeout_seconds": "limits of judges are set by the options of the judge",
    }
    for key, message in notices.items():
        if key in judge.file.model_fields_set and getattr(judge.file, key) not in (None, 0, ()):
            judge.reading.tell(message, *judge.place, key)
    model: dict[str, JsonValue] = {"model": judge.model} if judge.model not in (None, default_model) else {}
    drafts = tuple(
        Draft(RUBRIC, {"claims": (text,)} | model, judge.reading.document.origin(*judge.place, "criteria", number))
        for number, text in enumerate(judge.file.criteria)
    )
    threshold = PASS_THRESHOLD if judge.file.pass_threshold is None else judge.file.pass_threshold
    return Verdict(judge, drafts, least_of(len(drafts), threshold), threshold)


def graded(expected: Sequence[Draft], verdicts: Sequence[Verdict]) -> tuple[tuple[Check, ...], VerdictRule]:
    """Return the checks of a case and its rule; judges are asked only if all of `expect` holds."""
    stage = 1 if expected else 0
    lenient = [verdict for verdict in verdicts if verdict.may_miss_some]
    for verdict in lenient[1:]:
        message = "two judges of a case may each miss some criteria, and a verdict has one threshold"
        hint = "Set pass_threshold: 1 for one of them."
        verdict.judge.reading.refuse(message, *verdict.judge.place, hint=hint)
    if lenient:
        return _with_share(expected, verdicts, lenient[0], stage)
    judged = [(draft, stage, 1.0) for verdict in verdicts for draft in verdict.drafts]
    return _named([*((draft, 0, 1.0) for draft in expected), *judged]), VerdictRule()


def _with_share(
    expected: Sequence[Draft], verdicts: Sequence[Verdict], lenient: Verdict, stage: int
) -> tuple[tuple[Check, ...], VerdictRule]:
    """Return checks and rule where of one judge's criteria a share is enough, and all else has to hold."""
    strict = 2.0 * len(lenient.drafts)
    weighed = [(part, 0, strict) for draft in expected for part in draft.parts()]
    for verdict in verdicts:
        if verdict is lenient:
            weighed += [(draft, stage, 1.0) for draft in verdict.drafts]
        else:
            weighed += [(part, stage, strict) for draft in verdict.drafts for part in draft.parts()]
    strict_count = len(weighed) - len(lenient.drafts)
    threshold = lenient.threshold
    if strict_count:
        threshold = mean_threshold(strict_count, len(lenient.drafts), lenient.least)
    return _named(weighed), VerdictRule(mode=VerdictMode.MEAN, threshold=threshold)


def mean_threshold(strict_count: int, criteria_count: int, least: int) -> float:
    """Return the mean that is reached if all strict checks hold, and so many of the criteria.

    A strict check weighs twice as much as all criteria together, so that none of them can be made up for. The mean
    lies half a criterion below what is needed: no rounding decides.
    """
    strict = 2.0 * criteria_count * strict_count
    return (strict + least - 0.5) / (strict + criteria_count)


def _named(weighed: Iterable[tuple[Draft, int, float]]) -> tuple[Check, ...]:
    checks = list(weighed)
    labels = names(draft for draft, _, _ in checks)
    return tuple(
        draft.check(name, stage=stage, weight=weight)
        for name, (draft, stage, weight) in zip(labels, checks, strict=True)
    )
