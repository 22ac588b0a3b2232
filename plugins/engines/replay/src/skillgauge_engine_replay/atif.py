"""The Agent Trajectory Interchange Format of Harbor, versions 1.0 to 1.x: https://harborframework.com/docs.

One JSON document a session. Nothing in it tells which skills there were; those whose file was read, or that a tool
named `Skill` loaded, have fired, and which others could have is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, ConfigDict, Field

from skillgauge.api import (
    EventKind,
    Execution,
    Failure,
    FailureClass,
    FiredSkill,
    FoundSession,
    Identity,
    Json,
    JsonValue,
    Trajectory,
    TrajectoryEvent,
    Usage,
    read_document,
)
from skillgauge_validation import validate

_VERSION = re.compile(rb'"schema_version"\s*:\s*"ATIF-v1\.')
_SKILL_TOOLS = frozenset({"skill", "activate_skill", "load_skill"})
_LONGEST = 100_000
"""Characters of one text of an event."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class AtifAgent(_Part):
    """The agent."""

    name: str
    version: str | None = None
    model_name: str | None = None


class ToolCall(_Part):
    """A call of a tool."""

    tool_call_id: str | None = None
    function_name: str = ""
    arguments: Json = None


class ObservedResult(_Part):
    """An answer of the surroundings."""

    source_call_id: str | None = None
    content: Json = None


class Observation(_Part):
    """All answers to the calls of a step."""

    results: tuple[ObservedResult, ...] = ()


class Metrics(_Part):
    """The usage of a step; the prompt's tokens contain those of a cache."""

    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    cached_tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)


class FinalMetrics(_Part):
    """The usage of the session."""

    total_prompt_tokens: int | None = Field(default=None, ge=0)
    total_completion_tokens: int | None = Field(default=None, ge=0)
    total_cached_tokens: int | None = Field(default=None, ge=0)
    total_cost_usd: float | None = Field(default=None, ge=0)


class Step(_Part):
    """One thing that the user, the agent or the system did."""

    source: str
    message: Json = ""
    timestamp: str | None = None
    model_name: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    """Whether it is a repetition of what another document has, as of the context before it was summed up."""


class AtifDocument(_Part):
    """A trajectory."""

    schema_version: str
    session_id: str | None = None
    agent: AtifAgent
    steps: tuple[Step, ...]
    final_metrics: FinalMetrics | None = None


def is_atif(beginning: bytes) -> bool:
    """Tell whether a document is one of this format, by its first bytes."""
    return _VERSION.search(beginning) is not None


def read_atif(path: Path) -> FoundSession:
    """Read a document.

    Raises:
        SuiteError: it is no JSON, or not what the format says; with the place in it.
        ValueError: no user asks anything in it.
    """
    source = read_document(path)
    document = validate(AtifDocument, source.value, source)
    steps = [step for step in document.steps if not step.is_copied_context]
    prompts = tuple(text for step in steps if step.source == "user" and (text := _text(step.message)).strip())
    if not prompts:
        raise ValueError("no word of a user is in it")
    moments = [moment for step in steps if (moment := _moment(step.timestamp)) is not None]
    agent = document.agent
    model = next((step.model_name for step in reversed(steps) if step.model_name), agent.model_name)
    engine = Identity(name=agent.name, version=agent.version, model=model, complete=False)
    return FoundSession(
        prompts=prompts,
        engine=engine,
        execution=_execution(document, steps, model, max(moments) - min(moments) if moments else None),
        started_at=min(moments, default=None),
    )


def _execution(document: AtifDocument, steps: list[Step], model: str | None, duration_s: float | None) -> Execution:
    events = tuple(event for step in steps for event in _events(step))
    first = next((at for at, event in enumerate(events) if event.kind is EventKind.USER), 0)
    answers = _answers(steps)
    answer = answers[-1]
    failure = None if answer else Failure.of_agent(FailureClass.KILLED, "the document ends before an answer")
    of_agent = [step for step in steps if step.source == "agent"]
    trajectory = Trajectory(
        events=(*events[:first], *events[first + 1 :]),  # the first prompt is no further turn
        skills_fired=tuple(_fired(events)) or None,
        model_calls=len(of_agent),
        session_id=document.session_id,
        model=model,
        engine_version=document.agent.version,
    )
    return Execution(
        text=answer,
        answers=tuple(answers) if len(answers) > 1 else (),
        trajectory=trajectory,
        usage=_usage(document, of_agent),
        duration_s=duration_s,
        failure=failure,
    )


def _events(step: Step) -> Iterator[TrajectoryEvent]:
    words = _bounded(_text(step.message))
    if step.source == "user":
        if words.strip():
            yield TrajectoryEvent(kind=EventKind.USER, text=words)
        return
    if step.reasoning_content:
        yield TrajectoryEvent(kind=EventKind.REASONING, text=_bounded(step.reasoning_content))
    if words.strip():
        kind = EventKind.MESSAGE if step.source == "agent" else EventKind.NOTICE
        yield TrajectoryEvent(kind=kind, text=words)
    names = {}
    for call in step.tool_calls or ():
        names[call.tool_call_id] = call.function_name
        yield TrajectoryEvent(
            kind=EventKind.TOOL_CALL, name=call.function_name, call_id=call.tool_call_id, data=call.arguments
        )
    for result in step.observation.results if step.observation else ():
        yield TrajectoryEvent(
            kind=EventKind.TOOL_RESULT,
            name=names.get(result.source_call_id),
            call_id=result.source_call_id,
            text=_bounded(_text(result.content)),
        )


def _answers(steps: list[Step]) -> list[str | None]:
    """The last words of the agent in each turn; a step that calls tools is no answer."""
    answers: list[str | None] = []
    for step in steps:
        if step.source == "user" and _text(step.message).strip():
            answers.append(None)
        elif step.source == "agent" and answers:
            words = _text(step.message)
            answers[-1] = words if words.strip() and not step.tool_calls else None
    return answers


def _fired(events: tuple[TrajectoryEvent, ...]) -> Iterator[FiredSkill]:
    """Yield the skills that a tool loaded, or whose file was read."""
    skills: dict[FiredSkill, None] = {}
    for event in events:
        if event.kind is not EventKind.TOOL_CALL or not isinstance(event.data, Mapping):
            continue
        texts = [value for value in event.data.values() if isinstance(value, str)]
        if (event.name or "").lower() in _SKILL_TOOLS:
            named = next((event.data[key] for key in ("skill", "name") if isinstance(event.data.get(key), str)), None)
            if isinstance(named, str):
                skills[FiredSkill(name=named, how="invoked")] = None
        for text in texts:
            for word in re.findall(r"[^\s'\"]+/SKILL\.md\b", text):
                skills[FiredSkill(name=PurePosixPath(word).parent.name, how="read")] = None
    yield from skills


def _usage(document: AtifDocument, steps: list[Step]) -> Usage | None:
    """Return the usage of the whole session: as the document sums it up, else the sum of steps that all name it."""
    prompt, output, cached = (_total(document, steps, f"{name}_tokens") for name in ("prompt", "completion", "cached"))
    cost = _total(document, steps, "cost_usd")
    if prompt is None and output is None and cost is None:
        return None
    return Usage(
        input_tokens=None if prompt is None else max(0, int(prompt - (cached or 0))),
        cache_read_tokens=None if cached is None else int(cached),
        output_tokens=None if output is None else int(output),
        total_tokens=None if prompt is None or output is None else int(prompt + output),
        cost_usd=cost,
        cost_basis=None if cost is None else "reported",
    )


def _total(document: AtifDocument, steps: list[Step], name: str) -> float | None:
    """Return the sum of one of the metrics; `None` if the document has none and a step does not tell its own."""
    summed_up = getattr(document.final_metrics, f"total_{name}", None)
    if summed_up is not None:
        return float(summed_up)
    numbers = [getattr(step.metrics, name, None) for step in steps]
    counts = [float(number) for number in numbers if number is not None]
    return sum(counts) if counts and len(counts) == len(numbers) else None


def _text(content: JsonValue) -> str:
    """The text of a message or a result, which may come in parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, tuple):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _bounded(text: str) -> str:
    """A text, cut in its middle if it is very long."""
    half = _LONGEST // 2
    left_out = len(text) - 2 * half
    return text if left_out <= 0 else f"{text[:half]}\n[... {left_out} characters left out ...]\n{text[-half:]}"


def _moment(text: str | None) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError, OSError):
        return None
