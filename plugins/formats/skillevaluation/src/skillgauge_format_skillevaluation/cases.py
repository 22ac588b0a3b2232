"""From what eval.yaml says to cases of a suite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from skillgauge.api import (
    EMPTY,
    NO_LIMITS,
    Case,
    Check,
    Document,
    FileSpec,
    Limits,
    Origin,
    Problem,
    Severity,
    VerdictMode,
    VerdictRule,
)
from skillgauge_documents.immutables import immutable
from skillgauge_skill_folders import bundled_files, shell_words
from skillgauge_skillevaluation import EvalCase, Validator

COMMAND, RUBRIC = "command", "rubric"
EACH = VerdictRule(mode=VerdictMode.EACH)
TRIGGER_ONLY = "it says only whether the skill should fire, and nothing grades it"
SHOULD_TRIGGER = "should_trigger"
"""Key of `Case.extras`: it is carried as data and decides nothing."""
RESPONSE_FILE = "response.txt"
_FILE_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)*\.[A-Za-z]\w{0,7}")
_OPERATORS = frozenset({"|", "||", "&&", ";", "&", "(", ")", "!"})
_ASKS = frozenset({"-f", "-e", "-s", "-r", "-d", "-x"})
"""With which `test` asks whether a file is there."""


@immutable
class CaseMaker:
    """Makes the cases of one file."""

    root: Path
    """The skill's folder."""
    document: Document
    judge_last: bool = False

    def case(self, case_read: EvalCase) -> Case:
        """A case as the kernel runs it."""
        origin = self.document.origin("cases", case_read.index)
        commands = [validator.cmd for validator in case_read.validators]
        extras = EMPTY if case_read.should_trigger is None else {SHOULD_TRIGGER: case_read.should_trigger}
        return Case(
            id=case_read.name,
            description=case_read.description or "",
            prompt=case_read.prompt,
            files=tuple(FileSpec(path=path, text=text) for path, text in case_read.setup_files.items()),
            setup=case_read.setup_steps,
            setup_files=bundled_files(self.root, case_read.setup_steps),
            grader_files=bundled_files(self.root, commands),
            checks=tuple(_distinct([*self._validators(case_read, origin), *self._expectations(case_read, origin)])),
            rule=EACH,
            tags=case_read.tags,
            limits=NO_LIMITS if case_read.max_turns is None else Limits(max_turns=case_read.max_turns),
            skip=TRIGGER_ONLY if case_read.is_trigger_only else "",
            extras=extras,
            origin=origin,
        )

    def _validators(self, case: EvalCase, origin: Origin) -> Iterator[Check]:
        for index, validator in enumerate(case.validators):
            needs = self.looked_at(case, validator)
            options: dict[str, Any] = {"command": validator.cmd, "label": validator.label}
            if validator.expect_exit_code:
                options |= {"expect_exit_code": validator.expect_exit_code}
            if needs:
                options |= {"needs": needs}
            place = Origin(origin.file, (*origin.pointer, "validators", index))
            yield Check(id=validator.label, scorer=COMMAND, options=options, origin=place)

    def _expectations(self, case: EvalCase, origin: Origin) -> Iterator[Check]:
        for index, text in enumerate(case.expectations):
            place = Origin(origin.file, (*origin.pointer, "expectations", index))
            stage = int(self.judge_last and bool(case.validators))
            yield Check(id=text, scorer=RUBRIC, options={"claims": (text,)}, stage=stage, origin=place)

    def looked_at(self, case: EvalCase, validator: Validator) -> tuple[str, ...]:
        """Files that a validator reads and that only the agent can have made.

        If one is not there, the agent has failed, whatever code the command ends with: `grep` and `jq` end with 2 then,
        which would else be no verdict.
        """
        hidden = set(case.setup_files) | {RESPONSE_FILE}
        files = [
            word
            for word in _words(validator.cmd)
            if _FILE_NAME.fullmatch(word) and word not in hidden and not (self.root / word).exists()
        ]
        return tuple(dict.fromkeys(files))

    def warnings(self, case: EvalCase) -> Iterator[Problem]:
        """Validators that tell an agent's failure with a code that other runners take for a broken grader."""
        for index, validator in enumerate(case.validators):
            files = self.looked_at(case, validator)
            if files:
                message = (
                    f"case {case.name!r}: validator #{index} reads {', '.join(files)}, which the agent may not make; "
                    "that counts as failed here, and other runners may take it for a broken grader"
                )
                hint = f"Ask for the file first: test -f {files[0]} && ..."
                origin = self.document.origin("cases", case.index, "validators", index, "cmd")
                yield Problem("suite.missing-file-code", message, origin=origin, hint=hint, severity=Severity.WARNING)


def _distinct(checks: Sequence[Check]) -> Iterator[Check]:
    """The same words twice are two checks."""
    ids: dict[str, int] = {}
    for check in checks:
        count = ids[check.id] = ids.get(check.id, 0) + 1
        yield check if count == 1 else check.model_copy(update={"id": f"{check.id} ({count})"})


def _words(command: str) -> list[str]:
    """Words of a command but its operators, what it writes itself and what it asks for by `test`."""
    words = shell_words(command) or ()
    own = {word for before, word in pairwise(words) if before.startswith(">") or before in _ASKS}
    return [_plain(word) for word in words if word not in _OPERATORS and word not in own]


def _plain(word: str) -> str:
    return str(PurePosixPath(word)) if word and not word.startswith("/") else word
