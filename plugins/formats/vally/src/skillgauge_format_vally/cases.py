"""From stimuli to cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count

from skillgauge.api import (
    ALL_PASSED,
    Case,
    Check,
    FileSpec,
    JsonObject,
    JsonValue,
    Origin,
    Problem,
    VerdictMode,
    VerdictRule,
)

from .checks.calls import any_skill, constraints
from .checks.graders import made_of
from .checks.making import ANSWERED, TRIGGER, Context, Made
from .checks.rubrics import with_text_rubric
from .environments import Environment, environment_of
from .skills import Skills
from .source.files import (
    ConstraintsFile,
    EnvironmentFile,
    EvalFile,
    GraderFile,
    Part,
    ScoringFile,
    StimulusFile,
    TurnFile,
)
from .source.reading import Pointer, Reading
from .source.settings import Settings
from .tags import for_programs, tags_of

AGENT_ENVIRONMENTS = ("environment", "agent_environment")
GRADING = "grading_environment"


@dataclass(frozen=True)
class Stimulus:
    """A stimulus that was read, and its surroundings."""

    file: StimulusFile
    place: Pointer
    environment: Environment
    grader_files: Mapping[str, FileSpec]
    faults: tuple[Problem, ...] = ()
    """All that keeps it, and it alone, from being run."""


@dataclass(frozen=True)
class Shared:
    """The parts of a file that all of its stimuli have in common."""

    reading: Reading
    skills: Skills
    scoring: ScoringFile
    tags: tuple[str, ...]

    @property
    def averages(self) -> bool:
        """True if the mean of values decides."""
        return self.scoring.threshold is not None

    @property
    def rule(self) -> VerdictRule:
        """The rule of every case."""
        if self.scoring.threshold is None:
            return ALL_PASSED
        return VerdictRule(mode=VerdictMode.MEAN, threshold=self.scoring.threshold)


@dataclass(frozen=True)
class _Graded:
    """The checks that one grader, or one constraint, became."""

    kind: str
    """Type of the grader; empty for what is no grader."""
    identity: str
    parts: tuple[Made, ...]
    origin: Origin
    turn: int | None = None
    """Of the conversation that it is about."""


def stimuli_of(reading: Reading, settings: Settings | None, read: EvalFile) -> Iterator[Stimulus]:
    """Yield the stimuli that can be read, with the surroundings of the file and their own joined."""
    around, grading = _surroundings(reading, settings, read)
    names: set[str] = set()
    for number, value in enumerate(read.stimuli):
        start = len(reading.problems)
        file = reading.part(StimulusFile, with_text_rubric(reading, value, "stimuli", number), "stimuli", number)
        if file is None:
            continue
        if file.name in names:
            message = f"two stimuli have the name {file.name!r}"
            reading.refuse(message, "stimuli", number, "name", hint="Give one another name.")
        names.add(file.name)
        inner, own_grading = _surroundings(reading, settings, file, "stimuli", number)
        faults = reading.taken_back(start)
        yield Stimulus(file, ("stimuli", number), around.with_inner(inner), {**grading, **own_grading}, faults)


def _surroundings(
    reading: Reading, settings: Settings | None, read: EvalFile | StimulusFile, *pointer: str | int
) -> tuple[Environment, Mapping[str, FileSpec]]:
    """Return the surroundings of a session and the files of graders."""
    around = Environment()
    for key in AGENT_ENVIRONMENTS:
        around = around.with_inner(environment_of(reading, settings, getattr(read, key), *pointer, key))
    grading = environment_of(reading, settings, getattr(read, GRADING), *pointer, GRADING)
    if replace(grading, files={}) != Environment():
        hint = "Leave nothing but `files` in it."
        reading.refuse("graders are given files and nothing else", *pointer, GRADING, hint=hint)
    return around, grading.files


def case_of(stimulus: Stimulus, shared: Shared) -> Case:
    """Return the case of a stimulus; what is wrong with it is noted."""
    file, around = stimulus.file, stimulus.environment
    if for_programs(file.tags):
        shared.reading.tell("a tag with JSON is for an executor, and has no effect", *stimulus.place, "tags")
    prompt, *turns = _messages(stimulus, shared.reading) or ("",)
    return Case(
        id=file.name,
        description=file.description,
        prompt=prompt,
        turns=tuple(turns),
        files=tuple(around.files.values()),
        setup=around.commands,
        grader_files=tuple(stimulus.grader_files.values()),
        env=dict(around.env),
        tags=tuple(dict.fromkeys((*shared.tags, *tags_of(file.tags)))),
        checks=tuple(_checks(stimulus, shared)),
        rule=shared.rule,
        extras=_kept(stimulus),
        origin=shared.reading.document.origin(*stimulus.place),
    )


def runnable_or_left_out(stimulus: Stimulus, shared: Shared) -> tuple[Case, tuple[Problem, ...]]:
    """Return the case of a stimulus, and what keeps it from being run; it is then skipped, and says why."""
    start = len(shared.reading.problems)
    case = case_of(stimulus, shared)
    faults = (*stimulus.faults, *shared.reading.taken_back(start))
    if not faults:
        return case, ()
    reason = "; ".join(dict.fromkeys(fault.message for fault in faults))
    left_out = {"skip": f"it cannot be run here: {reason}", "checks": (), "files": (), "grader_files": ()}
    return case.model_copy(update=left_out), faults


def asks_for_skill_alone(case: Case, tested: tuple[str, ...]) -> bool:
    """Tell whether a case is about nothing but a skill under test firing, which proves nothing without it."""
    return any(not check.beside and _is_about(check.scorer, check.options, tested) for check in case.checks)


def asserts_more(checks: Iterable[tuple[str, Mapping[str, JsonValue]]], tested: tuple[str, ...]) -> bool:
    """Tell whether checks, by scorer and options, say more than that a skill under test fires within limits."""
    return any(
        not _is_about(scorer, options, tested) and scorer != "usage" and options.get("patterns") != (ANSWERED,)
        for scorer, options in checks
    )


def further_keys(value: object, model: type[Part]) -> dict[str, JsonValue]:
    """Return the keys of a part that nothing reads, for writing back."""
    own_keys = {info.alias or name for name, info in model.model_fields.items()}
    items = value.items() if isinstance(value, Mapping) else ()
    return {key: item for key, item in items if key not in own_keys}


def _messages(stimulus: Stimulus, reading: Reading) -> tuple[str, ...]:
    """Return what the user says: the prompt, or each of the turns of a conversation."""
    file, place = stimulus.file, stimulus.place
    if (file.prompt is None) is (file.turns is None) or file.turns == ():
        reading.refuse("a stimulus has either a prompt or turns", *place, hint="Write `prompt` alone.")
        return ()
    turns = tuple(_said(value, reading, (*place, "turns", number)) for number, value in enumerate(file.turns or ()))
    messages = turns or (file.prompt or "",)
    pointer: Pointer = (*place, "turns", 0) if turns else (*place, "prompt")
    if messages[0].startswith("@"):
        reading.tell("a prompt that begins with @ names a skill to Copilot; other agents take it for text", *pointer)
    return messages


def _said(value: JsonObject | str, reading: Reading, place: Pointer) -> str:
    """Return what the user says in one turn, which is a text, or an object with a prompt."""
    if isinstance(value, str):
        return value
    turn = reading.part(TurnFile, value, *place)
    return turn.prompt if turn is not None else ""


def _checks(stimulus: Stimulus, shared: Shared) -> Iterator[Check]:
    """Yield the checks of a stimulus, those beside the verdict marked, each with its weight."""
    graded = list(_graded(stimulus, shared))
    tested = shared.skills.tested_names
    is_beside = asserts_more([(part.scorer, part.options) for grader in graded for part in grader.parts], tested)
    counting = [
        sum(not (is_beside and _is_about(part.scorer, part.options, tested)) for part in grader.parts)
        for grader in graded
    ]
    counts = Counter(grader.kind for grader, number in zip(graded, counting, strict=True) if number)
    ids: set[str] = set()
    for grader, number in zip(graded, counting, strict=True):
        for part in grader.parts:
            beside = is_beside and _is_about(part.scorer, part.options, tested)
            if beside:
                message = "the skill under test fires in one arm only, so that this stands beside the verdict"
                shared.reading.tell(message, *grader.origin.pointer)
            yield Check(
                id=_free(grader.identity if len(grader.parts) == 1 else f"{grader.identity}: {part.label}", ids),
                scorer=part.scorer,
                options=dict(part.options),
                weight=1.0 if beside else _weight(grader.kind, counts, shared) / (number if shared.averages else 1),
                beside=beside,
                turn=grader.turn,
                origin=grader.origin,
            )


def _free(identity: str, ids: set[str]) -> str:
    """Return an id that no other check of the stimulus has, and note it."""
    numbered = (f"{identity} {number}" for number in count(2))
    free = next(name for name in chain((identity,), numbered) if name not in ids)
    ids.add(free)
    return free


def _is_about(scorer: str, options: Mapping[str, JsonValue], tested: tuple[str, ...]) -> bool:
    """Tell whether a check asks if a skill under test fires."""
    return scorer == TRIGGER and options.get("skill") in tested


def _weight(kind: str, counts: Counter[str], shared: Shared) -> float:
    """Return the weight of a grader: where types have weights, graders of one type share that of the type."""
    weights = shared.scoring.weights
    if not shared.averages or not weights or not kind:
        return 1.0
    return weights.get(kind, 1.0) / counts[kind]


def _graded(stimulus: Stimulus, shared: Shared) -> Iterator[_Graded]:
    """Yield all that a stimulus asks for, in the order of the file's keys."""
    file, place, reading = stimulus.file, stimulus.place, shared.reading
    for number, value in enumerate(file.graders):
        here = (*place, "graders", number)
        grader = reading.part(GraderFile, value, *here)
        if grader is None:
            continue
        context = Context(reading, (*here, "config"), shared.skills, file.rubric, shared.averages)
        identity = grader.name or f"{grader.type} {number + 1}"
        parts = tuple(made_of(grader, context))
        turn = _turn(grader, len(file.turns or ()) or 1, context)
        yield _Graded(grader.type, identity, parts, reading.document.origin(*here), turn)
    if file.rubric and not _is_judged(file):
        reading.tell("a rubric without a grader of type prompt is not judged", *place, "rubric")
    if file.expect_activation is not None:
        context = Context(reading, place, shared.skills)
        parts = tuple(any_skill(context, "expect_activation", called=file.expect_activation))
        yield _Graded("", "expect_activation", parts, reading.document.origin(*place, "expect_activation"))
    if file.constraints is not None:
        yield from _constraints(file.constraints, Context(reading, (*place, "constraints"), shared.skills))


def _turn(grader: GraderFile, turns: int, context: Context) -> int | None:
    """Return the turn of a conversation that a grader is about; `None` for the whole session."""
    turn, place = grader.turn, (*context.place[:-1], "turn")
    if turn is not None and turn >= turns:
        hint = f"The last turn is {turns - 1}."
        context.reading.refuse(f"there is no turn {turn}, counted from 0", *place, hint=hint)
    return None if turns == 1 else turn


def _constraints(written: JsonObject, context: Context) -> Iterator[_Graded]:
    read = context.reading.part(ConstraintsFile, written, *context.place)
    for part in constraints(read, context) if read is not None else ():
        yield _Graded("", part.label, (part,), context.reading.document.origin(*context.place))


def _kept(stimulus: Stimulus) -> dict[str, JsonValue]:
    """Return the parts of a stimulus that nothing executes, for writing back."""
    file = stimulus.file
    kept: dict[str, JsonValue] = further_keys(file.model_extra or {}, StimulusFile)
    for key, value, model in (
        ("environment", file.environment, EnvironmentFile),
        ("constraints", file.constraints, ConstraintsFile),
    ):
        if inner := further_keys(value, model):
            kept[key] = inner
    if programs := for_programs(file.tags):
        kept["tags"] = programs
    if file.rubric and not _is_judged(file):
        kept["rubric"] = file.rubric
    return kept


def _is_judged(file: StimulusFile) -> bool:
    """Tell whether a judge is asked, who sees the rubric."""
    return any(grader.get("type") == "prompt" for grader in file.graders)
