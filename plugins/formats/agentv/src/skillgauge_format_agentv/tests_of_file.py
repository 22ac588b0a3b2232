"""The tests of a file as cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillgauge.api import Case, FileSpec, FrozenDict, JsonValue, Limits, did_you_mean
from skillgauge_assertions import Node, Vars, resolved, variables, written_tests
from skillgauge_skill_folders import skills_of

from .conversations import graded_turns, is_conversation, turns_of
from .environment import files_in, workdir
from .graders import Around, reference
from .grading import THRESHOLD, Graded, Grading
from .keys import DEFAULT_TEST, EXECUTION, OPTIONS, RUN, TEST
from .messages import Asking, Prompt, prompts_of, with_namespace
from .reading import AgentvReading

_ASSERT = ("assert", "assertions")
_EMPTY = Graded((), Case(id="none").rule, (), FrozenDict({}))


@dataclass(frozen=True)
class Shared:
    """The settings that the tests of a file share."""

    reading: AgentvReading
    config: Node
    tests: Node
    skills: tuple[str, ...]
    files: tuple[FileSpec, ...]


@dataclass(frozen=True)
class _Said:
    """The settings of a test, with those that it has from the file."""

    node: Node
    identity: str
    variables: Mapping[str, Node]
    asserted: tuple[Node, ...]
    threshold: float
    timeout_s: float | None
    prompts: tuple[Prompt, ...]
    files: tuple[FileSpec, ...]

    @property
    def values(self) -> Vars:
        """Variables with those put in that they name."""
        return with_namespace(resolved({name: node.value for name, node in self.variables.items()}))


def tests_of(shared: Shared) -> tuple[Case, ...]:
    """Every test with every prompt that it is asked by."""
    reading, config = shared.reading, shared.config
    default = config.at("default_test")
    if isinstance(default.value, str):
        default = reading.document(default, default.value)
    if default.value is not None and not reading.only(default, DEFAULT_TEST, "default_test"):
        return ()
    prompts = prompts_of(reading, config.at("prompts"))
    cases: list[Case] = []
    names: set[str] = set()
    for number, node in enumerate(written_tests(reading, shared.tests), 1):
        settings = _settings_of(shared, node, default, prompts, number)
        if settings is None:
            continue
        if settings.identity in names:
            message = f"two tests have the id {settings.identity!r}"
            reading.refuse(node.at("id"), message, "Give one another id.", "suite.value")
        names.add(settings.identity)
        cases += _cases(shared, settings)
    return tuple(cases)


def _settings_of(shared: Shared, node: Node, default: Node, prompts: tuple[Prompt, ...], number: int) -> _Said | None:
    reading = shared.reading
    if not _is_test(reading, node):
        return None
    identity = node.at("id").value
    asserted = _asserted(shared, node, default)
    return _Said(
        node=node,
        identity=str(identity) if isinstance(identity, str | int) and str(identity) else f"test {number}",
        variables={**variables(reading, default.at("vars")), **variables(reading, node.at("vars"))},
        asserted=asserted,
        threshold=_threshold(shared, node, default),
        timeout_s=reading.positive(node.at("run").at("timeout_seconds")),
        prompts=_chosen(reading, node.at("prompts"), prompts),
        files=_files(shared, node),
    )


def _is_test(reading: AgentvReading, node: Node) -> bool:
    """Tell whether a test has only keys that are read; each other one is noted."""
    if isinstance(node.value, Mapping) and "include" in node.value:
        reading.refuse(node, "suites within suites are not read", "Name several files instead.")
        return False
    if not reading.only(node, TEST, "a test"):
        return False
    parts = (("run", RUN), ("execution", EXECUTION), ("options", OPTIONS))
    are_read = [reading.only(node.at(key), supported, key) for key, supported in parts if node.has(key)]
    return all(are_read)


def _asserted(shared: Shared, node: Node, default: Node) -> tuple[Node, ...]:
    """The assertions of a test, and those of the file unless it skips them."""
    execution = node.at("execution")
    places = [node, execution]
    if execution.at("skip_defaults").value is not True:
        places += [default, shared.config, shared.config.at("execution")]
    return tuple(assertion for place in places for assertion in _listed(shared.reading, place, *_ASSERT, "evaluators"))


def _threshold(shared: Shared, node: Node, default: Node) -> float:
    """The share that passes a test, where the nearest place that has one says it."""
    config = shared.config
    places = (node.at("run"), node, node.at("execution"), default, config, config.at("execution"))
    nearest = next((place.at("threshold") for place in places if place.has("threshold")), None)
    return _share(shared.reading, nearest)


def _listed(reading: AgentvReading, node: Node, *names: str) -> list[Node]:
    nodes = reading.first(node, *names)
    if nodes.value is not None and not isinstance(nodes.value, tuple):
        reading.refuse(nodes, "assertions are a list", code="suite.wrong-type")
    return list(nodes.items())


def _share(reading: AgentvReading, node: Node | None) -> float:
    if node is None:
        return THRESHOLD
    if isinstance(node.value, int | float) and not isinstance(node.value, bool) and 0 <= node.value <= 1:
        return float(node.value)
    reading.refuse(node, "threshold has to be a number from 0 to 1", code="suite.value")
    return THRESHOLD


def _chosen(reading: AgentvReading, node: Node, prompts: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
    """The prompts that a test names by their labels, or writes itself; all if it says nothing of them."""
    if node.value is None:
        return prompts
    labels = {prompt.label: prompt for prompt in prompts if prompt.label}
    names = [one.value for one in node.items()] if isinstance(node.value, tuple) else [node.value]
    if labels and all(isinstance(one, str) and one in labels for one in names):
        return tuple(labels[str(one)] for one in names)
    if labels and len(names) == 1 and isinstance(names[0], str) and (near := did_you_mean(names[0], list(labels))):
        reading.refuse(node, f"there is no prompt {names[0]!r}{near}", code="suite.value")
    return prompts_of(reading, node)


def _files(shared: Shared, node: Node) -> tuple[FileSpec, ...]:
    """Return the files of the workspace: the folder of the test in place of that of the file."""
    own = shared.reading.first(node, "environment", "workspace")
    if own.value is None or (folder := workdir(shared.reading, own)) is None:
        return shared.files
    if skills_of(folder):
        message = "skills in the folder of a single test are not supported"
        shared.reading.refuse(own, message, "Let `environment` of the file name the folder with them.")
    return files_in(shared.reading, own, folder, ())


def _cases(shared: Shared, settings: _Said) -> Iterator[Case]:
    """The test with each of its prompts, or with what it asks itself."""
    reading, node = shared.reading, settings.node
    own = reading.first(node, "input", "input_messages")
    turns = turns_of(reading, node) if is_conversation(node) else []
    if is_conversation(node) and not turns:
        return
    if own.value is not None:
        prompts: tuple[Prompt, ...] = (Prompt(own, ""),)
    elif settings.prompts or turns:
        prompts = settings.prompts or (Prompt(Node(None, node.origin), ""),)
    else:
        hint = "Write `prompts` with variables, or `input`."
        reading.refuse(node, "this test asks nothing", hint, "suite.missing-key")
        return
    for number, prompt in enumerate(prompts, 1):
        name = f"{settings.identity}, {prompt.label or f'prompt {number}'}" if len(prompts) > 1 else settings.identity
        case = _talk(shared, settings, prompt, turns) if turns else _single(shared, settings, prompt)
        cluster = settings.identity if len(prompts) > 1 else ""
        yield case.model_copy(update={"id": name, "cluster": case.cluster or cluster})


def _single(shared: Shared, settings: _Said, prompt: Prompt) -> Case:
    """The case of a test that asks once."""
    asking = _asking(shared, settings, prompt.node)
    return _case(shared, settings, (asking,), _graded(shared, settings, asking.text))


def _talk(shared: Shared, settings: _Said, prompt: Prompt, turns: list[Node]) -> Case:
    """The case of a conversation, whose first turn comes after what the file and the test ask before."""
    reading, node = shared.reading, settings.node
    askings = [_asking(shared, settings, prompt.node, turns[0].at("input"))]
    for turn in turns[1:]:
        askings.append(Asking(reading, settings.values, settings.variables))
        askings[-1].ask(turn.at("input"))
        if not askings[-1].text:
            reading.refuse(turn, "nothing is asked by this", code="suite.value")
    for key in ("criteria", "expected_outcome", "expected_output", "expected_messages", "rubrics"):
        if node.has(key):
            reading.keep(node.at(key), f"`{key}` of a conversation", "not graded; write it into `assert`")
    around = Around(reading, settings.values, askings[-1].text, "", None, shared.skills, settings.threshold)
    texts = [asking.text for asking in askings]
    return _case(shared, settings, tuple(askings), graded_turns(node, turns, around, list(settings.asserted), texts))


def _case(shared: Shared, settings: _Said, askings: tuple[Asking, ...], graded: Graded) -> Case:
    node = settings.node
    description, cluster = node.at("description").value, node.at("conversation_id").value
    asked = [file for asking in askings for file in asking.files.values()]
    placed = {file.path: file for file in (*settings.files, *asked)}
    return Case(
        id=settings.identity,
        description=description if isinstance(description, str) else "",
        tags=_tags(shared.reading, node.at("metadata")),
        cluster=cluster if isinstance(cluster, str) else "",
        prompt=askings[0].text or "-",
        turns=tuple(asking.text or "-" for asking in askings[1:]),
        files=tuple(placed.values()),
        checks=graded.checks,
        grader_files=graded.files,
        rule=graded.rule,
        limits=Limits(timeout_s=settings.timeout_s),
        extras={"assert": graded.written} if graded.written else {},
        origin=node.origin,
    )


def _asking(shared: Shared, settings: _Said, *nodes: Node) -> Asking:
    """Everything that is asked at first: the messages of the file, what is attached, and those of the test."""
    reading = shared.reading
    asking = Asking(reading, settings.values, settings.variables)
    asking.ask(shared.config.at("input"))
    for attached in (shared.config.at("input_files"), settings.node.at("input_files")):
        for row in attached.items():
            asking.attach(row)
    for node in nodes:
        asking.ask(node)
    if not asking.text:
        reading.refuse(nodes[-1], "nothing is asked by this", code="suite.value")
    if len(asking.texts) > 1 and len(set(asking.roles)) > 1:
        reading.keep(nodes[-1], "messages of several roles", "asked as one text, in their order")
    return asking


def _tags(reading: AgentvReading, metadata: Node) -> tuple[str, ...]:
    """The tags among the metadata of a test, all else of which is for people."""
    if not isinstance(metadata.value, Mapping):
        return ()
    if metadata.value.keys() - {"tags"}:
        reading.keep(metadata, "`metadata` of a test", "kept for people")
    tags = metadata.value.get("tags")
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, tuple) else ()


def _graded(shared: Shared, settings: _Said, prompt: str) -> Graded:
    """The checks: of assertions, else of what older files say of a good answer."""
    reading, node = shared.reading, settings.node
    criteria = reading.first(node, "criteria", "expected_outcome")
    text = criteria.value if isinstance(criteria.value, str) else ""
    wanted = reading.first(node, "expected_output", "expected_messages")
    named = settings.variables.get("expected_output")
    expected = _reference(wanted.value) if wanted.value is not None else _reference(named.value) if named else None
    around = Around(reading, settings.values, prompt, text, expected, shared.skills, settings.threshold)
    asserted = list(settings.asserted)
    asserted += _listed(reading, node, "rubrics")
    if not asserted and text:
        asserted = [criteria]
    elif not asserted and wanted.value is not None and expected is not None:
        part = reference(expected)
        asserted = [Node(FrozenDict({"type": "llm-rubric"}), wanted.origin)] if part else []
    elif text and not _reads_criteria(asserted):
        reading.keep(criteria, "`criteria` beside assertions", "not graded, as in agentv; write it into `assert`")
    if not asserted:
        reading.warn(node, "this test has nothing to check", "Write `assert`.")
        return _EMPTY
    return Grading(around).graded(asserted)


def _reads_criteria(asserted: list[Node]) -> bool:
    return any(
        isinstance(assertion.value, Mapping)
        and assertion.value.get("type") in ("llm-rubric", "agent-rubric", "llm-grader", "llm-judge", "script")
        and not {"value", "criteria", "rubrics"} & assertion.value.keys()
        for assertion in asserted
    )


def _reference(value: JsonValue) -> JsonValue:
    """Return the right answer, as a text where it is one message."""
    if isinstance(value, tuple) and value and isinstance(value[-1], Mapping) and "content" in value[-1]:
        return value[-1]["content"]
    if isinstance(value, Mapping) and "role" in value:
        return value.get("content")
    return value
