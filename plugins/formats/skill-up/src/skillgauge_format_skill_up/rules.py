"""The checks of a judge of type rule_based: rules that all have to hold, and rules of which none may."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from skillgauge.api import JsonValue
from skillgauge_patterns import PatternError, compiled, unfolded

from .drafts import CONTAINS, FILES, REGEX, TOOL_CALL, Draft
from .expectations import check_exit_code, stays_inside, texts_options
from .files import JudgeFile, OutputFile, RuleFile, TurnFile
from .patterns import any_of, any_text, from_go
from .reading import Pointer, Reading

SUCCESS, FAILURE = "success", "failure"
TOOL_NAMES = "tools are named as the agent that runs calls them, which may differ between agents"
_OF_RESPONSE = {"all": "contains_all", "any": "contains_any", "not": "not_contains"}
"""Names of the lists of a rule in one about the answer of a turn."""
_ARGUMENT = re.compile(r"\\A(?P<text>.*)\\Z", re.DOTALL)


def rules(judge: JudgeFile, reading: Reading, place: Pointer, turns: int) -> Iterator[Draft]:
    """Yield the checks of both lists, those of `failure` turned around, in the order in which skill-up looks."""
    for key, entries in ((FAILURE, judge.failure), (SUCCESS, judge.success)):
        for number, entry in enumerate(entries):
            yield from _Rule(entry, reading, (*place, key, number), turns, is_failure=key == FAILURE).drafts()


def conditions(turns: Sequence[TurnFile], reading: Reading) -> Iterator[Draft]:
    """Yield the checks without which a conversation ends: the conditions of its turns.

    Args:
        turns: those of a case.
        reading: takes problems.
    """
    for number, turn in enumerate(turns):
        condition, place = turn.post_condition, ("input", "turns", number, "post_condition")
        if condition is None:
            continue
        if condition.on_fail == "skip_remaining":
            hint = "Leave it out: a condition that does not hold fails the case."
            message = "a conversation that a condition ends fails its case, and this would have the rest judged"
            reading.refuse(message, *place, "on_fail", hint=hint)
        if len(turns) == 1:
            reading.tell("a condition of the only turn is not looked at by skill-up, and has no effect", *place)
            continue
        for key, texts in condition.lists():
            origin = reading.document.origin(*place, key)
            yield Draft(*_about_texts(key, texts), origin, turn=number, required=True)


def _about_texts(key: str, texts: tuple[str, ...]) -> tuple[str, Mapping[str, JsonValue]]:
    if key == "must_contain_any" and len(texts) > 1:
        return REGEX, _patterns_options((any_text(texts),), is_absent=False)
    return CONTAINS, texts_options(texts, is_absent=key == "must_not_contain")


def argument_pattern(value: JsonValue) -> str:
    """Return the pattern of an argument that is exactly this text, number or truth value."""
    return rf"\A{re.escape(value if isinstance(value, str) else json.dumps(value))}\Z"


def argument_of(pattern: str) -> str | int | bool | None:
    """Return the value of an argument with such a pattern; `None` if it is another pattern."""
    match = _ARGUMENT.fullmatch(pattern)
    text = re.sub(r"\\(.)", r"\1", match["text"], flags=re.DOTALL) if match else ""
    if match is None or argument_pattern(text) != pattern:
        return None
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?(?:0|[1-9]\d*)", text) else text


def used_keys(rule: RuleFile) -> list[str]:
    """The keys of a rule that are there."""
    return [key for key in RuleFile.model_fields if getattr(rule, key) is not None]


@dataclass(frozen=True)
class _Rule:
    """A rule and where it stands."""

    rule: RuleFile
    reading: Reading
    place: Pointer
    turns: int
    """Of the case; none if it has a prompt."""
    is_failure: bool

    @property
    def number(self) -> int | None:
        """The turn that it is about, from 1."""
        return getattr(getattr(self.rule, used_keys(self.rule)[0]), "turn", None)

    def drafts(self) -> Iterator[Draft]:
        """Yield its checks; none, with a problem or a notice, if there is nothing to check."""
        keys = used_keys(self.rule)
        if len(keys) != 1:
            message = f"a rule has one key, and this has {', '.join(keys)}" if keys else "this rule checks nothing"
            self._refuse(message, hint="Make each key an item of its own: skill-up looks at one of them alone.")
            return
        if self.number is not None and self.number > self.turns:
            why = f"the last one is {self.turns}" if self.turns else "a case with a prompt has none"
            hint = "Use output_contains or tool_called, which look at the whole session, or write `turns`."
            self._refuse(f"there is no turn {self.number}: {why}", keys[0], hint=hint)
            return
        yield from _KINDS[keys[0]](self)

    def output_contains(self) -> Iterator[Draft]:
        """Yield checks for texts."""
        for key, texts in self._lists(self.rule.output_contains):
            yield from self._about_output(key, texts, _Texts(CONTAINS, texts_options, any_text))

    def output_matches(self) -> Iterator[Draft]:
        """Yield checks for patterns."""
        for key, written in self._lists(self.rule.output_matches):
            patterns = tuple(self._pattern(one, key, number) for number, one in enumerate(written))
            yield from self._about_output(key, patterns, _Texts(REGEX, _patterns_options, any_of))

    def turn_response_contains(self) -> Iterator[Draft]:
        """Yield checks for texts of one answer."""
        rule = self.rule.turn_response_contains
        lists = OutputFile(all=rule.contains_all, any=rule.contains_any) if rule is not None else None
        for key, texts in self._lists(lists):
            yield from self._about_output(key, texts, _Texts(CONTAINS, texts_options, any_text))

    def turn_response_not_contains(self) -> Iterator[Draft]:
        """Yield a check for texts that one answer may not have."""
        rule = self.rule.turn_response_not_contains
        for key, texts in self._lists(OutputFile.model_validate({"not": rule.not_contains}) if rule else None):
            yield from self._about_output(key, texts, _Texts(CONTAINS, texts_options, any_text))

    def tool_called_in_turn(self) -> Iterator[Draft]:
        """Yield a check for a call of one turn."""
        if (rule := self.rule.tool_called_in_turn) is not None:
            yield self._call(rule.name, rule.args, "tool_called_in_turn", is_called=not self.is_failure)

    def tool_not_called_in_turn(self) -> Iterator[Draft]:
        """Yield a check for a call that one turn may not have."""
        if (rule := self.rule.tool_not_called_in_turn) is not None:
            yield self._call(rule.name, {}, "tool_not_called_in_turn", is_called=self.is_failure)

    def exit_code(self) -> Iterator[Draft]:
        """Yield nothing: a session that is graded has ended with 0."""
        code = self.rule.exit_code or 0
        if self.is_failure and code == 0:
            self._refuse("no session could pass: it fails if it ends well", "exit_code", hint="Take the rule out.")
        elif self.is_failure:
            self.reading.tell("a session that ends badly is an error here, and no fail", *self.place, "exit_code")
        else:
            check_exit_code(self.reading, code, *self.place, "exit_code")
        yield from ()

    def tool_called(self) -> Iterator[Draft]:
        """Yield a check for a call."""
        if (rule := self.rule.tool_called) is not None:
            yield self._call(rule.name, rule.args, "tool_called", is_called=not self.is_failure)

    def files_exist(self) -> Iterator[Draft]:
        """Yield a check for each file that has to be there."""
        yield from self._files("files_exist", self.rule.files_exist or (), is_absent=self.is_failure)

    def files_not_exist(self) -> Iterator[Draft]:
        """Yield a check for each file that may not be there."""
        yield from self._files("files_not_exist", self.rule.files_not_exist or (), is_absent=not self.is_failure)

    def _lists(self, rule: OutputFile | None) -> list[tuple[str, tuple[str, ...]]]:
        """The lists of a rule about the output that are not empty."""
        lists = {"all": rule.all, "any": rule.any, "not": rule.none} if rule is not None else {}
        used = [(key, texts) for key, texts in lists.items() if texts]
        if not used:
            self._refuse("this rule checks nothing", hint="Give it a list: all, any or not.")
        elif self.is_failure and len(used) > 1:
            message = "a rule under `failure` with several lists fails where all of them hold, which cannot be checked"
            self._refuse(message, hint="Keep one list, or check it by a script.")
            return []
        return used

    def _about_output(self, key: str, texts: tuple[str, ...], words: _Texts) -> Iterator[Draft]:
        """Yield the check of one list: all, some or none of its texts have to be there."""
        place = (used_keys(self.rule)[0], key if self.number is None else _OF_RESPONSE[key])
        if key == "all" and self.is_failure and len(texts) > 1:
            message = "a rule under `failure` with `all` fails where all of them are there, which cannot be checked"
            self._refuse(message, *place, hint="Keep one of them, or check it by a script.")
        elif key == "all" and not self.is_failure:
            yield self._draft(words.scorer, words.options(texts, is_absent=False), *place)
        elif key != "all" and self.is_failure is (key == "not"):
            yield self._some(texts, words, *place)
        else:
            yield self._draft(words.scorer, words.options(texts, is_absent=True), *place)

    def _some(self, texts: tuple[str, ...], words: _Texts, *key: str) -> Draft:
        if len(texts) == 1:
            return self._draft(words.scorer, words.options(texts, is_absent=False), *key)
        return self._draft(REGEX, _patterns_options((words.joined(texts),), is_absent=False), *key)

    def _pattern(self, written: str, key: str, number: int) -> str:
        try:
            pattern = from_go(written)
            compiled(pattern)
        except (PatternError, ValueError) as error:
            why = str(error) if isinstance(error, PatternError) else f"pattern {written!r} is not valid: {error}"
            self._refuse(why, "output_matches", key, number, hint="Write it as the Go package regexp has it.")
            return written
        return pattern

    def _call(self, name: str, arguments: Mapping[str, JsonValue], key: str, *, is_called: bool) -> Draft:
        self.reading.tell(TOOL_NAMES, *self.place, key)
        options: dict[str, JsonValue] = {"tool": name, "called": is_called}
        if arguments:
            options["arguments"] = dict(self._arguments(arguments, key))
        return self._draft(TOOL_CALL, options, key)

    def _arguments(self, arguments: Mapping[str, JsonValue], key: str) -> Iterator[tuple[str, JsonValue]]:
        for name, value in arguments.items():
            if isinstance(value, str | int) and value != "":
                yield name, argument_pattern(value)
            else:
                hint = "Compare texts, whole numbers and truth values, or leave the argument out."
                message = f"argument {name!r} cannot be compared with this value"
                self._refuse(message, key, "args", name, hint=hint)

    def _files(self, key: str, paths: tuple[str, ...], *, is_absent: bool) -> Iterator[Draft]:
        if not paths or (self.is_failure and len(paths) > 1):
            message = "a rule under `failure` holds where all of its files do, which cannot be checked"
            hint = "Make each file a rule of its own, if one of them is enough to fail."
            self._refuse(message if paths else "this rule checks nothing", key, hint=hint)
            return
        for number, path in enumerate(paths):
            if stays_inside(self.reading, path, *self.place, key, number):
                options = {"path": path, "state": "absent" if is_absent else "present"}
                yield self._draft(FILES, options, key, number)

    def _draft(self, scorer: str, options: Mapping[str, JsonValue], *key: str | int) -> Draft:
        turn = self.number - 1 if self.number is not None and self.turns > 1 else None
        return Draft(scorer, options, self.reading.document.origin(*self.place, *key), turn)

    def _refuse(self, message: str, *key: str | int, hint: str) -> None:
        self.reading.refuse(message, *self.place, *key, hint=hint)


@dataclass(frozen=True)
class _Texts:
    """The way in which one kind of texts is looked for."""

    scorer: str
    options: Callable[..., dict[str, JsonValue]]
    joined: Callable[[tuple[str, ...]], str]
    """Makes one pattern that finds any of them."""


def _patterns_options(patterns: tuple[str, ...], *, is_absent: bool) -> dict[str, JsonValue]:
    plain, heeds_case = unfolded(patterns)
    case: dict[str, JsonValue] = {} if heeds_case else {"case_sensitive": False}
    return {"patterns": plain, **case} | ({"absent": True} if is_absent else {})


_KINDS: dict[str, Callable[[_Rule], Iterator[Draft]]] = {
    "output_contains": _Rule.output_contains,
    "output_matches": _Rule.output_matches,
    "exit_code": _Rule.exit_code,
    "tool_called": _Rule.tool_called,
    "files_exist": _Rule.files_exist,
    "files_not_exist": _Rule.files_not_exist,
    "turn_response_contains": _Rule.turn_response_contains,
    "turn_response_not_contains": _Rule.turn_response_not_contains,
    "tool_called_in_turn": _Rule.tool_called_in_turn,
    "tool_not_called_in_turn": _Rule.tool_not_called_in_turn,
}
