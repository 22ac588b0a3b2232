"""From a configuration of promptfoo to a suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skillgauge.api import (
    DIRECT,
    Arm,
    ArmKind,
    Case,
    Comparison,
    FrozenDict,
    Limits,
    Loaded,
    LoadRequest,
    Origin,
    Suite,
    SuiteDefaults,
    SuiteError,
    Target,
    TargetKind,
    digest,
    read_document,
)
from skillgauge_assertions import Node, Reading, TemplateError, Vars, filled, resolved
from skillgauge_skill_folders import Skill, bundled_files, find_skill, leaks_of, load_each, read_skill, skill_ref

from .assertions import Grading
from .claiming import NAMES
from .conversations import Turn, conversations, joined
from .keys import ANCHORED, ANCHORS, CLUSTER, CONFIG, CONVERSATION, EVALUATE
from .prompts import Prompt, prompts_of
from .providers import Asked, asked
from .users import user_of
from .vars_and_tests import MOST_CASES, Test, tests_of

FORMAT = "promptfoo"
AGENT, WITH_SKILL, WITHOUT_SKILL = "agent", "with_skill", "without_skill"
TRIGGER = "trigger"
_COMMAND = "command"


def load(request: LoadRequest) -> Loaded:
    """One suite for each configuration.

    Raises:
        SuiteError: a named file is bad; with everything that is wrong with all of them.
    """
    return load_each(request, NAMES, _suite)


def _suite(file: Path) -> Suite:
    document = read_document(file, kind=None if file.suffix == ".json" else "yaml")
    reading = Reading(file.parent)
    config = Node(document.value, Origin(str(file)))
    if not reading.only(config, {**CONFIG, **_anchored(config)}, "the configuration"):
        raise SuiteError(reading.problems)
    folder = find_skill(file.parent)
    skill = read_skill(folder) if folder is not None else None
    who = asked(reading, config.at("targets" if config.has("targets") else "providers"))
    prompts = prompts_of(reading, config.at("prompts"))
    tests = tests_of(reading, config)
    cases = _Cases(reading, prompts, tests, who, skill, _templates(config)).made()
    repeat, limits = _options(reading, config.at("evaluateOptions"))
    if reading.problems:
        raise SuiteError(reading.problems)
    name = skill.name if skill is not None else file.resolve().parent.name or FORMAT
    description = config.at("description").value
    target, arms = _target_and_arms(file, skill, who, cases, name)
    return Suite(
        id=name,
        name=name,
        description=description if isinstance(description, str) else "",
        format=FORMAT,
        root=str(file.parent),
        digest=digest(document.value, [case.checks_digest for case in cases], [one.digest for one in arms]),
        cases=cases,
        targets=(target,),
        arms=arms,
        comparisons=(Comparison(candidate=WITH_SKILL, baseline=WITHOUT_SKILL),) if len(arms) > 1 else (),
        defaults=SuiteDefaults(
            engine=who.engine,
            model=who.model,
            limits=limits.over(Limits(max_turns=who.max_turns)),
            runs=repeat,
            baseline=False,
        ),
        warnings=(*(skill.warnings if skill else ()), *reading.told()),
        origin=config.origin,
    )


def _anchored(config: Node) -> dict[str, str]:
    return {key: ANCHORED for key in config.names() if key.startswith(ANCHORS)}


def _templates(config: Node) -> dict[str, Node]:
    node = config.at("assertionTemplates")
    return {key: node.at(key) for key in node.names()}


def _options(reading: Reading, node: Node) -> tuple[int | None, Limits]:
    if node.value is None or not reading.only(node, EVALUATE, "evaluateOptions"):
        return None, Limits()
    numbers: list[int | None] = []
    for key in ("repeat", "timeoutMs"):
        value = node.at(key).value
        whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if value is not None and not whole:
            reading.refuse(node.at(key), f"{key} has to be a whole number above 0", code="suite.value")
        numbers.append(value if whole and isinstance(value, int) else None)
    repeat, timeout = numbers
    return repeat, Limits(timeout_s=timeout / 1000 if timeout else None)


def _target_and_arms(
    file: Path, skill: Skill | None, who: Asked, cases: tuple[Case, ...], name: str
) -> tuple[Target, tuple[Arm, ...]]:
    """Direct calls where a provider is a command; else an agent, with the skill if there is one, and without it."""
    if who.command is not None:
        plain = Target(id=name, name=name, kind=TargetKind.COMMAND, adapter=_COMMAND, digest=digest(who.command))
        return plain, (DIRECT,)
    if skill is None:
        return Target(id=name, name=name, kind=TargetKind.AGENT), (Arm(name=AGENT, kind=ArmKind.AGENT),)
    commands = [str(check.options["command"]) for case in cases for check in case.checks if check.scorer == _COMMAND]
    also = [file.resolve().relative_to(skill.root.resolve()).as_posix()]
    ref = skill_ref(skill.root, skill.name, leaks_of(skill.root, commands=commands, also=also).paths)
    target = skill.target()
    with_skill = Arm(name=WITH_SKILL, kind=ArmKind.AGENT, skills=(ref,))
    # Whether the skill was used is a part of the verdict, which the arm without it could never meet.
    if any(check.scorer == TRIGGER for case in cases for check in case.checks):
        return target, (with_skill,)
    return target, (with_skill, Arm(name=WITHOUT_SKILL, kind=ArmKind.AGENT))


def _name(test: Test, at: int) -> str:
    """Return what a test is called: its description, else its number."""
    description = test.node.at("description").value
    return description.strip() if isinstance(description, str) and description.strip() else f"test {at}"


class _Cases:
    """Every test with every combination of its variables, asked by every prompt."""

    def __init__(
        self,
        reading: Reading,
        prompts: tuple[Prompt, ...],
        tests: tuple[Test, ...],
        who: Asked,
        skill: Skill | None,
        templates: dict[str, Node],
    ) -> None:
        self._reading, self._prompts, self._tests, self._who = reading, prompts, tests, who
        self._skills = (skill.name,) if skill is not None else ()
        self._templates = templates
        self._ids: set[str] = set()

    def made(self) -> tuple[Case, ...]:
        """The cases in the order of promptfoo's table."""
        number = sum(test.size for test in self._tests) * max(1, len(self._prompts))
        if number > MOST_CASES:
            first = self._tests[0].node
            self._reading.refuse(first, f"these are {number:,} cases; {MOST_CASES:,} are the most", code="suite.value")
            return ()
        shared = conversations(self._tests)
        cases: list[Case] = []
        begun: set[str] = set()
        for at, test in enumerate(self._tests, 1):
            if test.conversation not in shared:
                cases += self._of_test(test, at)
            elif test.conversation not in begun:
                begun.add(test.conversation)
                cases += self._of_conversation(test)
        return tuple(cases)

    def _of_conversation(self, first: Test) -> Iterator[Case]:
        """A case for each prompt, whose turns are the tests that belong together, in their order."""
        name = first.conversation
        tests = [(at, test) for at, test in enumerate(self._tests, 1) if test.conversation == name]
        if self._who.command is not None:
            hint = "Let an agent answer: name a provider that is an agent or a model."
            self._reading.refuse(first.node, f"a command cannot continue the conversation {name!r}", hint)
            return
        is_one = len(self._prompts) == 1
        own = next(filter(None, [self._cluster(test) for _, test in tests]), "" if is_one else name)
        chosen = [(at, test, self._chosen(test)) for at, test in tests]
        for number, prompt in enumerate(self._prompts, 1):
            label = "" if is_one else f", {prompt.label or f'prompt {number}'}"
            turns = [turn for at, test, prompts in chosen for turn in self._turns(test, at, prompt, prompts)]
            if turns:
                case = joined(self._reading, self._unique(f"{name}{label}"), turns)
                yield case.model_copy(update={"cluster": own})

    def _turns(self, test: Test, at: int, prompt: Prompt, chosen: tuple[Prompt, ...]) -> Iterator[Turn]:
        """Yield the turns that a test is in a conversation: one for each combination of its variables."""
        if prompt not in chosen:
            return
        for combination, values in enumerate(test.combinations(), 1):
            name = f"{_name(test, at)}, vars {combination}" if test.size > 1 else _name(test, at)
            case = self._case(test, prompt, resolved(values), name)
            if case is not None:
                yield Turn(test, case)

    def _cluster(self, test: Test) -> str:
        """Return the cluster that a test names; all else of its metadata is for people."""
        metadata = test.node.at("metadata")
        if any(key not in (CLUSTER, CONVERSATION) for key in metadata.names()):
            self._reading.keep(metadata, "`metadata` of a test", "kept for people")
        own = metadata.at(CLUSTER).value
        return own if isinstance(own, str) else ""

    def _of_test(self, test: Test, at: int) -> Iterator[Case]:
        name, prompts = _name(test, at), self._chosen(test)
        expands = test.size > 1 or len(prompts) > 1
        cluster = self._cluster(test) or (f"test {at}" if expands else "")
        for combination, values in enumerate(test.combinations(), 1):
            for number, prompt in enumerate(prompts, 1):
                parts = [name]
                parts += [f"vars {combination}"] if test.size > 1 else []
                parts += [prompt.label or f"prompt {number}"] if len(prompts) > 1 else []
                case = self._case(test, prompt, resolved(values), self._unique(", ".join(parts)))
                if case is not None:
                    yield case.model_copy(update={"cluster": cluster})

    def _unique(self, name: str) -> str:
        unique_name, number = name, 1
        while unique_name in self._ids:
            number += 1
            unique_name = f"{name} #{number}"
        self._ids.add(unique_name)
        return unique_name

    def _chosen(self, test: Test) -> tuple[Prompt, ...]:
        """The prompts that a test names by their labels; all if it names none."""
        node = test.node.at("prompts")
        if node.value is None:
            return self._prompts
        names = [one.value for one in node.items()]
        labels = {prompt.label for prompt in self._prompts}
        if not names or any(one not in labels for one in names):
            self._reading.refuse(node, f"prompts of a test are labels of prompts: {', '.join(sorted(labels))}")
        return tuple(prompt for prompt in self._prompts if prompt.label in names)

    def _case(self, test: Test, prompt: Prompt, values: Vars, name: str) -> Case | None:
        try:
            text = filled(f"{test.text('prefix')}{prompt.text}{test.text('suffix')}", values)
        except TemplateError as error:
            hint = f"The test stands at {test.node.origin.file}, {'.'.join(map(str, test.node.origin.pointer))}."
            self._reading.refuse(prompt.node, str(error), hint, "suite.template")
            return None
        direct = self._who.command is not None
        grading = Grading(self._reading, values, text, self._skills, self._templates, direct)
        graded = grading.graded(list(test.assertions), test.threshold)
        user = user_of(self._reading, test.user, values) if test.user is not None else None
        if user is not None and direct:
            hint = "Let an agent answer: name a provider that is an agent or a model."
            self._reading.refuse(test.user or test.node, "a command holds no conversation with a simulated user", hint)
        has_code = any(check.scorer == _COMMAND for check in graded.checks)
        return Case(
            id=name,
            prompt=None if direct else text,
            input=self._who.call(text, values) if direct else None,
            files=bundled_files(self._reading.root, [self._who.command]) if self._who.command else (),
            user=user,
            checks=graded.checks,
            grader_files=tuple({file.path: file for file in graded.files}.values()),
            rule=graded.rule,
            extras={"assert": graded.written} | ({"vars": FrozenDict(values)} if has_code else {}),
            origin=test.node.origin,
        )
