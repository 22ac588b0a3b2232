"""eval.yaml, schema rev 2: strict, and everything that is wrong with a file at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import PurePosixPath

from skillgauge.api import JsonValue, Origin, Problem, did_you_mean
from skillgauge_documents.immutables import immutable

CASE_KEYS = (
    "name",
    "prompt",
    "setup",
    "expectations",
    "validators",
    "max_turns",
    "should_trigger",
    "tags",
    "description",
)
VALIDATOR_KEYS = ("cmd", "expect_exit_code", "label")
SETUP_KEYS = ("files", "commands")
REMOVED_KEYS = ("mode", "user_goal", "environment", "simulator", "policy_check", "trials")
"""Keys of schema rev 1."""
LONGEST_LABEL = 80
"""Characters of a command that stand for a label."""
_MIGRATION = (
    "There is one execution contract: an agent is asked once and may take many steps. Seed its world with 'setup' and "
    "check it with 'validators'; put the conversation so far into 'prompt'; for 'trials' run with --runs N."
)

Where = Callable[..., Origin]
"""Makes the origin of a pointer."""


@immutable
class Validator:
    """A shell command that decides by its exit code."""

    cmd: str
    expect_exit_code: int = 0
    label: str = ""


@immutable
class EvalCase:
    """A case as the file has it."""

    name: str
    prompt: str
    setup_steps: tuple[str, ...] = ()
    setup_files: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[str, ...] = ()
    validators: tuple[Validator, ...] = ()
    tags: tuple[str, ...] = ()
    description: str | None = None
    max_turns: int | None = None
    should_trigger: bool | None = None
    index: int = 0
    """Its place in the file, from 0."""

    @property
    def is_trigger_only(self) -> bool:
        """True if nothing grades it, so that it only says whether the skill should fire."""
        return self.should_trigger is not None and not self.expectations and not self.validators

    def document(self) -> dict[str, object]:
        """The case as conformance data has it."""
        validators = [
            {"cmd": one.cmd, "expect_exit_code": one.expect_exit_code, "label": one.label} for one in self.validators
        ]
        return {
            "name": self.name,
            "prompt": self.prompt,
            "setup_steps": list(self.setup_steps),
            "setup_files": dict(self.setup_files),
            "expectations": list(self.expectations),
            "script_validators": validators,
            "tags": list(self.tags),
            "description": self.description,
            "max_turns": self.max_turns,
            "should_trigger": self.should_trigger,
        }


def read_cases(value: JsonValue, where: Where) -> tuple[tuple[EvalCase, ...], tuple[Problem, ...]]:
    """The cases of a file, and everything that is wrong with it; cases are complete only if nothing is.

    Args:
        value: the content of the file.
        where: makes the origin of a pointer, as `Document.origin`.
    """
    faults = _Faults(where)
    if not isinstance(value, Mapping):
        faults.add("wrong-type", "an eval.yaml is an object with a list 'cases'")
        return (), tuple(faults.found)
    cases = value.get("cases")
    if not isinstance(cases, tuple) or not cases:
        faults.add(
            "no-cases",
            f"'cases' {_fault_of_cases(value)}: there must be at least one, it may not be empty",
            *_at(value, "cases"),
        )
    for key in value:
        if key in REMOVED_KEYS:
            faults.removed([key], "this file", key)
        elif key != "cases":
            faults.add("unknown-key", f"unknown top-level key {key!r}{did_you_mean(key, ['cases'])}", key)
    ids: dict[str, int] = {}
    items = cases if isinstance(cases, tuple) else ()
    return tuple(_CaseReader(item, index, faults, ids).read() for index, item in enumerate(items)), tuple(faults.found)


def _fault_of_cases(value: Mapping[str, JsonValue]) -> str:
    """Return what is wrong with a key `cases` that holds none."""
    if "cases" not in value:
        return "is missing"
    return "is empty" if value["cases"] == () else "must be a list"


def _at(value: Mapping[str, object], key: str) -> tuple[str, ...]:
    return (key,) if key in value else ()


class _Faults:
    """Problems of one file."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self.found: list[Problem] = []

    def add(self, code: str, message: str, *pointer: str | int, hint: str | None = None) -> None:
        self.found.append(Problem(f"suite.{code}", message, origin=self._where(*pointer), hint=hint))

    def removed(self, keys: Sequence[str], advice: str, *pointer: str | int) -> None:
        named = ", ".join(map(repr, keys))
        message = f"{advice}: {named}: removed in schema rev 2, which has one execution contract"
        self.add("removed-key", message, *pointer, hint=_MIGRATION)


class _CaseReader:
    """Reads one case; what is wrong goes to the faults of the file, with the name of the case."""

    def __init__(self, item: JsonValue, index: int, faults: _Faults, ids: dict[str, int]) -> None:
        self._raw = item
        self._item: Mapping[str, JsonValue] = item if isinstance(item, Mapping) else {}
        self._index = index
        self._faults = faults
        self._taken = ids
        self._title = f"case #{index}"

    def _fault(self, code: str, message: str, *pointer: str | int, hint: str | None = None) -> None:
        self._faults.add(code, f"{self._title}: {message}", "cases", self._index, *pointer, hint=hint)

    def read(self) -> EvalCase:
        if not isinstance(self._raw, Mapping):
            self._fault("wrong-type", "a case must be an object with 'name' and 'prompt'")
            return EvalCase("", "", index=self._index)
        name = self._name()
        self._unknown(self._item, CASE_KEYS, "")
        files, commands = self._setup()
        case = EvalCase(
            name=name,
            prompt=self._text("prompt", required=True) or "",
            setup_steps=commands,
            setup_files=files,
            expectations=self._texts(self._item.get("expectations", ()), "an expectation", "expectations"),
            validators=self._validators(),
            tags=self._texts(self._item.get("tags", ()), "a tag", "tags"),
            description=self._text("description", blank=True),
            max_turns=self._max_turns(),
            should_trigger=self._should_trigger(),
            index=self._index,
        )
        graders = [self._item.get(key, ()) for key in ("expectations", "validators")]
        if all(one == () for one in graders) and "should_trigger" not in self._item:
            hint = (
                "Add 'expectations', 'validators', or 'should_trigger' alone for a case that only asks for the skill."
            )
            self._fault("no-check", "it needs at least one assertion", hint=hint)
        return case

    def _name(self) -> str:
        name = (self._text("name", required=True) or "").strip()
        if not name:
            return ""
        self._title = f"case {name!r}"
        if name in self._taken:
            first = self._taken[name]
            self._fault("duplicate-id", f"duplicate case name {name!r}: case #{first} has it, too", "name")
        self._taken.setdefault(name, self._index)
        return name

    def _unknown(self, item: Mapping[str, JsonValue], allowed: Sequence[str], of: str, *pointer: str | int) -> None:
        removed = [key for key in item if key in REMOVED_KEYS and not of]
        if removed:
            self._faults.removed(removed, self._title, "cases", self._index, removed[0])
        for key in item:
            if key not in allowed and key not in removed:
                near = did_you_mean(key, allowed)
                self._fault("unknown-key", f"{of}unknown key {key!r}{near}", *pointer, key)

    def _text(self, key: str, *, required: bool = False, blank: bool = False) -> str | None:
        value = self._item.get(key)
        if key not in self._item:
            if required:
                self._fault("missing-key", f"{key!r} is missing")
            return None
        if not isinstance(value, str):
            self._fault("wrong-type", f"{key!r} must be text", key)
        elif not blank and not value.strip():
            self._fault("value", f"{key!r} must not be blank", key)
        return value if isinstance(value, str) else None

    def _texts(self, value: JsonValue, label: str, *pointer: str | int) -> tuple[str, ...]:
        if not isinstance(value, tuple):
            self._fault("wrong-type", f"{pointer[-1]!r} must be a list", *pointer)
            return ()
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self._fault("wrong-type", f"{label} must be text", *pointer, index)
            elif not item.strip():
                self._fault("value", f"{label} must not be blank", *pointer, index)
        return tuple(item for item in value if isinstance(item, str))

    def _setup(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        setup = self._item.get("setup", ())
        if isinstance(setup, tuple):
            return {}, self._texts(setup, "a set-up command", "setup")
        if not isinstance(setup, Mapping):
            self._fault("wrong-type", "'setup' must be a list of commands, or an object with 'files'", "setup")
            return {}, ()
        self._unknown(setup, SETUP_KEYS, "setup: ", "setup")
        commands = self._texts(setup.get("commands", ()), "a set-up command", "setup", "commands")
        files = setup.get("files", {})
        if not isinstance(files, Mapping):
            self._fault("wrong-type", "'files' of setup must map paths to texts", "setup", "files")
            return {}, commands
        for path, text in files.items():
            if not _stays_inside(path):
                message = f"setup file {path!r} does not stay inside the workspace"
                self._fault("escaping-path", message, "setup", "files", path, hint="Use a relative path without '..'.")
            if not isinstance(text, str):
                self._fault("wrong-type", f"the content of setup file {path!r} must be text", "setup", "files", path)
        return {path: text for path, text in files.items() if isinstance(text, str) and _stays_inside(path)}, commands

    def _validators(self) -> tuple[Validator, ...]:
        values = self._item.get("validators", ())
        if not isinstance(values, tuple):
            self._fault("wrong-type", "'validators' must be a list", "validators")
            return ()
        return tuple(self._validator(item, index) for index, item in enumerate(values))

    def _check_exit_code(self, code: JsonValue, title: str, *place: str | int) -> None:
        """Note an exit code that no command ends with."""
        if isinstance(code, bool) or not isinstance(code, int):
            self._fault("wrong-type", f"{title}'expect_exit_code' must be an integer", *place, "expect_exit_code")
        elif not 0 <= code <= 255:
            message = f"{title}'expect_exit_code' is {code}, and no command ends with that: 0 to 255"
            self._fault("value", message, *place, "expect_exit_code")

    def _validator(self, item: JsonValue, index: int) -> Validator:
        title, place = f"validator #{index}: ", ("validators", index)
        if not isinstance(item, Mapping):
            self._fault("wrong-type", f"{title}must be an object with 'cmd'", *place)
            return Validator("")
        self._unknown(item, VALIDATOR_KEYS, title, *place)
        cmd, code, label = item.get("cmd"), item.get("expect_exit_code", 0), item.get("label", "")
        if "cmd" not in item:
            self._fault("missing-key", f"{title}'cmd' is missing", *place)
        elif not isinstance(cmd, str) or not cmd.strip():
            self._fault("value", f"{title}'cmd' must be a shell command", *place, "cmd")
        self._check_exit_code(code, title, *place)
        if not isinstance(label, str):
            self._fault("wrong-type", f"{title}'label' must be text", *place, "label")
        cmd, label = str(cmd or ""), label if isinstance(label, str) else ""
        return Validator(cmd, code if isinstance(code, int) else 0, label or cmd[:LONGEST_LABEL])

    def _max_turns(self) -> int | None:
        turns = self._item.get("max_turns")
        if "max_turns" not in self._item:
            return None
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            self._fault("value", "'max_turns' must be an integer of at least 1", "max_turns")
            return None
        return turns

    def _should_trigger(self) -> bool | None:
        value = self._item.get("should_trigger")
        if "should_trigger" in self._item and not isinstance(value, bool):
            self._fault("wrong-type", "'should_trigger' must be true or false", "should_trigger")
        return value if isinstance(value, bool) else None


def _stays_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(path.strip("./ ")) and not path.startswith("/") and ".." not in parts and "\\" not in path
