"""The tree of results that BenchFlow keeps, `skill-eval/SKILL/AGENT/ARM/TIME/CASE__HASH/`, written and read."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skillgauge.api import (
    Artifact,
    Document,
    EventKind,
    JsonValue,
    Problem,
    SourceSpan,
    SuiteError,
    Trajectory,
    TrajectoryEvent,
    TrialResult,
    Usage,
    Verdict,
    digest,
    read_document,
    thaw,
)
from skillgauge.api.report import RunView

from .views import BASELINE, WITH_SKILL, Row, view_of

ROOT = "skill-eval"
RESULT = "result.json"
_ARMS = (WITH_SKILL, BASELINE)
_HASH = re.compile(r"(?P<case>.+)__[0-9a-f]{4,}")
_LONGEST = 200
"""Bytes of a name that are kept; file systems take 255."""
_MAX_BYTES = 64 * 1024 * 1024


class JobsReporter:
    """One folder for each rollout, as BenchFlow's own tools look for them."""

    suffix = "json"

    def render(self, view: RunView) -> Iterable[Artifact]:
        """The files of every rollout, one after another; an index of them is the report's own file."""
        stamp = datetime.fromtimestamp(view.run.started_at, UTC).strftime("%Y-%m-%d__%H-%M-%S")
        names = {suite.id: suite.name or suite.id for suite in view.head.suites}
        prompts = {(case.suite_id, case.id): case.prompt for case in view.cases()}
        runners = Counter(runner for runner, _ in {(one.key.runner, one.key.model) for one in view.summary.groups})
        index: list[str] = []
        for result in view.results():
            if result.verdict is Verdict.SKIPPED:
                continue
            agent = f"{result.runner}--{result.model}" if runners[result.runner] > 1 else result.runner
            agent = agent.replace("/", "-")
            rollout = f"{result.case_id[:_LONGEST]}__{digest(result.trial_id)[:8]}"
            skill = names.get(result.suite_id, result.suite_id)
            folder = f"{ROOT}/{_name(skill)}/{_name(agent)}/{_name(result.arm)}/{stamp}/{_name(rollout)}"
            index.append(folder)
            yield from _files(folder, rollout, result, prompts.get((result.suite_id, result.case_id)))
        yield Artifact(chunks=[_json(index)], path=f"{ROOT}/index.json")

    def read(self, path: Path) -> RunView | None:
        """The newest rollout of each case in each arm, and the lift of their rewards, without running anything.

        Raises:
            SuiteError: a result is damaged.
        """
        if not path.is_dir():
            return None
        rows = list(_rows(path))
        return view_of(rows, str(path.absolute()), started_at=min(row.started_at for row in rows)) if rows else None


def _name(text: str) -> str:
    """A text as the name of a folder; one that cannot be its own is told apart by its digest."""
    name = "".join(one if one.isprintable() and one not in "/\\" else "-" for one in text).strip() or "-"
    name = f"-{name}" if name in (".", "..") else name
    short = name.encode()[:_LONGEST].decode(errors="ignore")
    return name if name == text and short == name else f"{short}-{digest(text)[:8]}"


def _files(folder: str, rollout: str, result: TrialResult, prompt: str | None) -> Iterator[Artifact]:
    """The files of one rollout: its result always, a trajectory and a reward where it has them."""
    execution = result.execution
    reward = _reward_of(result)
    prompts = [] if prompt is None else [prompt]
    yield Artifact(chunks=[_json(_result_document(rollout, result))], path=f"{folder}/{RESULT}")
    yield Artifact(chunks=[_json(prompts)], path=f"{folder}/prompts.json")
    yield Artifact(chunks=[_json({"total": execution.duration_s})], path=f"{folder}/timing.json")
    if execution.trajectory is not None:
        lines = _trajectory_lines(execution.trajectory, prompt or "")
        yield Artifact(chunks=lines, path=f"{folder}/trajectory/acp_trajectory.jsonl")
    if reward is not None:
        judged = {"items": _judged_items(result), "score": reward}
        yield Artifact(chunks=[f"{reward:g}\n".encode()], path=f"{folder}/verifier/reward.txt")
        yield Artifact(chunks=[_json(judged)], path=f"{folder}/verifier/judge_result.json")


def _reward_of(result: TrialResult) -> float | None:
    """The value of a trial that was graded; an error has none."""
    return None if result.verdict is Verdict.ERROR else result.value


def _result_document(rollout: str, result: TrialResult) -> dict[str, Any]:
    reward = _reward_of(result)
    return {
        "task_name": result.case_id,
        "rollout_name": rollout,
        "rewards": None if reward is None else {"reward": reward},
        "agent": result.runner,
        "agent_name": result.runner,
        "model": result.model,
        "skill_mode": "with-skill" if result.arm != BASELINE else "no-skill",
        "n_tool_calls": _count(result, EventKind.TOOL_CALL),
        "n_skill_invocations": _invocations(result),
        "agent_result": _usage_document(result.execution.usage),
        **_errors(result),
        "started_at": datetime.fromtimestamp(result.started_at, UTC).isoformat(),
        "timing": {"total": result.execution.duration_s},
        "repeat": result.repeat,
    }


def _usage_document(usage: Usage | None) -> dict[str, float | None]:
    if usage is None:
        return dict.fromkeys(("n_input_tokens", "n_output_tokens", "total_tokens", "cost_usd"))
    return {
        "n_input_tokens": usage.input_tokens,
        "n_output_tokens": usage.output_tokens,
        "total_tokens": usage.all_tokens,
        "cost_usd": usage.cost_usd,
    }


def _errors(result: TrialResult) -> dict[str, str | None]:
    """The failure that left a rollout without a reward: of the agent, else of those who graded it."""
    errors: dict[str, str | None] = dict.fromkeys(("error", "error_category", "verifier_error"))
    failure = result.execution.failure
    if result.verdict is not Verdict.ERROR:
        return errors
    if failure is not None:
        return errors | {"error": failure.message, "error_category": failure.failure_class}
    ungraded = [f"{score.check_id}: {score.reason}" for score in result.scores if score.value is None]
    return errors | {"verifier_error": "; ".join(ungraded)}


def _trajectory_lines(trajectory: Trajectory, prompt: str) -> list[bytes]:
    events = [{"type": "user_message", "text": prompt}, *map(event_document, trajectory.events)]
    return [f"{json.dumps(event, ensure_ascii=False)}\n".encode() for event in events]


def _judged_items(result: TrialResult) -> list[dict[str, Any]]:
    """The checks that decided the reward, as criteria of a judge."""
    return [
        {"criterion": score.check_id, "pass": score.value == 1, "evidence": score.reason}
        for score in result.scores
        if score.value is not None and not score.beside
    ]


def event_document(event: TrajectoryEvent) -> dict[str, Any]:
    """An event as a line of an ACP trajectory."""
    match event.kind:
        case EventKind.MESSAGE:
            return {"type": "agent_message", "text": event.text}
        case EventKind.REASONING:
            return {"type": "agent_thought", "text": event.text}
        case EventKind.TOOL_CALL:
            call: dict[str, Any] = {"type": "tool_call", "tool_call_id": event.call_id, "title": event.name or "tool"}
            return {**call, "kind": "other", "status": "completed", "content": [], "raw_input": thaw(event.data)}
        case EventKind.TOOL_RESULT:
            status = "failed" if event.is_error else "completed"
            content = event.text or thaw(event.data)
            return {"type": "tool_result", "tool_call_id": event.call_id, "status": status, "raw_output": content}
        case EventKind.NOTICE:
            return {"type": "notice", "text": event.text}
        case EventKind.USER:
            return {"type": "user_message", "text": event.text}


def _count(result: TrialResult, kind: EventKind) -> int | None:
    trajectory = result.execution.trajectory
    return None if trajectory is None else sum(event.kind is kind for event in trajectory.events)


def _invocations(result: TrialResult) -> int | None:
    trajectory = result.execution.trajectory
    fired = trajectory.skills_fired if trajectory else None
    return None if fired is None else len(fired)


def _json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def _rows(root: Path) -> Iterator[Row]:
    """The rollouts below a folder: the newest of each case by time and by repeat."""
    rows: dict[tuple[str, str, str | None, str, str, int], tuple[str, Row]] = {}
    problems: list[Problem] = []
    for file in sorted(root.glob(f"**/{RESULT}")):
        place = _place(file)
        if place is None:
            continue
        stamp = place.stamp
        try:
            row = _row(file, read_document(file, kind="json", max_bytes=_MAX_BYTES), place)
        except SuiteError as error:
            problems += error.problems
            continue
        key = (row.skill, row.agent, row.model, row.arm, row.case_id, row.repeat)
        if key not in rows or rows[key][0] <= stamp:
            rows[key] = (stamp, row)
    if problems:
        raise SuiteError(problems)
    yield from (row for _, row in rows.values())


@dataclass(frozen=True)
class _Place:
    """The facts about a rollout that its folders give."""

    skill: str
    agent: str
    arm: str
    stamp: str
    """Name of the folder of the job, which begins with its time."""
    rollout: str


def _place(file: Path) -> _Place | None:
    """Return the rollout that a result is of; `None` if it lies elsewhere."""
    folder = file.absolute().parent
    arm = next((one for one in folder.parents if one.name in _ARMS), None)
    if arm is None:
        return None
    agent = arm.parent
    return _Place(agent.parent.name, agent.name, arm.name, folder.parent.name, folder.name)


def _row(file: Path, document: Document, place: _Place) -> Row:
    value = document.value
    if not isinstance(value, Mapping):
        raise SuiteError(Problem("report.damaged", "a result must be an object", span=SourceSpan(str(file), 1, 1)))
    error = next((str(value[key]) for key in ("error", "verifier_error") if value.get(key)), "")
    usage, timing = _object(value.get("agent_result")), _object(value.get("timing"))
    tokens = _number(usage.get("total_tokens"))
    repeat = value.get("repeat")
    return Row(
        skill=place.skill,
        case_id=_case_id(value.get("task_name"), place.rollout),
        agent=str(value.get("agent") or value.get("agent_name") or place.agent),
        model=str(value["model"]) if value.get("model") else None,
        arm=place.arm,
        repeat=repeat if isinstance(repeat, int) and repeat > 0 else 1,
        reward=None if error else _reward(document, value),
        error=error,
        question=_question(file),
        started_at=_seconds(value.get("started_at")),
        duration_s=_number(timing.get("total")),
        tokens=None if tokens is None else round(tokens),
        cost_usd=_number(usage.get("cost_usd")),
    )


def _object(value: JsonValue) -> Mapping[str, JsonValue]:
    """An object, empty where something else stands in its place."""
    return value if isinstance(value, Mapping) else {}


def _case_id(task_name: JsonValue, rollout: str) -> str:
    """The name of the task, else the name of the rollout without the digest behind it."""
    if isinstance(task_name, str) and task_name:
        return task_name
    match = _HASH.fullmatch(rollout)
    return match["case"] if match else rollout


def _reward(document: Document, value: Mapping[str, JsonValue]) -> float | None:
    """`reward` of `rewards`, else its first value; `None` if there is none.

    Raises:
        SuiteError: it is no number from 0 to 1.
    """
    rewards = value.get("rewards")
    if not isinstance(rewards, Mapping) or not rewards:
        return None
    key = "reward" if "reward" in rewards else next(iter(rewards))
    reward = rewards[key]
    number = _number(reward)
    if number is not None and 0 <= number <= 1:
        return number
    if reward is None:
        return None
    message = f"a reward must be a number from 0 to 1, not {json.dumps(thaw(reward))}"
    raise SuiteError(Problem("report.damaged", message, origin=document.origin("rewards", key)))


def _question(file: Path) -> str | None:
    try:
        value = read_document(file.parent / "prompts.json", kind="json", max_bytes=_MAX_BYTES).value
    except SuiteError:
        return None
    first = value[0] if isinstance(value, tuple) and value else None
    return first.strip() if isinstance(first, str) else None


def _seconds(value: JsonValue) -> float:
    """0 for what is no moment."""
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
