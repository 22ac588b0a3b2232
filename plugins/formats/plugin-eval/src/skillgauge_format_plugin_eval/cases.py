"""From a case as it is written to a case that is run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skillgauge.api import Case, FileSpec, Install, JsonValue, Limits, Origin, VerdictMode, VerdictRule
from skillgauge_skill_folders import contained, file_spec, files_of

from .case_files import earlier_session, history, readable_files
from .claiming import CASE_FILE, EVALS, GRADERS, PROMPT_FILE
from .graders import Around, Plugin, checks_of
from .mocks import MOCKS, Mocks
from .reading import Findings, WrittenCase, WrittenGrader

TIMEOUT_S, TURNS, RUNS = 300, 10, 3
"""Limits and repeats of a case that says nothing."""
_EACH = VerdictRule(mode=VerdictMode.EACH)
_VARIABLE = "EVAL_"
SYSTEM_PROMPT = "system-prompt"
"""Kind of the install that adds to what the program says to the model of itself."""
KEPT = ("expected_outcome", "allowed_tools", "disallowed_tools", "model", "append_system_prompt")
"""Keys of a case that are written back, and have no place of their own here."""


@dataclass(frozen=True)
class CaseMaking:
    """The surroundings of the cases of a plugin."""

    plugin: Plugin
    """What it brings."""
    mocks: Mocks
    findings: Findings
    """Takes what cannot be honoured."""
    runs: int
    """Repeats of the suite; a case keeps a number of its own where it differs."""


def case_of(written: WrittenCase, root: Path, making: CaseMaking) -> Case:
    """Make a case of a plugin's folder, noting what cannot be honoured.

    Args:
        written: the case.
        root: folder of the plugin.
        making: what is known around it.
    """
    folder, findings = written.folder, making.findings
    place = folder.resolve().relative_to(root.resolve()).parts
    at = place.index(EVALS) if EVALS in place else 0
    mocked = making.mocks.of(folder)
    subject = Around(making.plugin, mocked, partial(earlier_session, written, root))
    checks = checks_of(written.graders, subject, findings)
    setup, setup_files = _setup(written, findings)
    files = readable_files(written, root, findings)
    _tell_of_case(written, findings)
    kept: dict[str, JsonValue] = {key: written.get(key) for key in KEPT if written.get(key) is not None}
    own = runs_of(written)
    if mocked.texts:
        kept[MOCKS] = dict(mocked.texts)
    kept["graders"] = {check.id: _unnamed(one) for check, one in zip(checks, written.graders, strict=False)}
    return Case(
        id="/".join((*place[:at], *place[at + 1 :])),
        name=written.get("name") or folder.name,
        description=written.get("description") or "",
        prompt=written.prompt,
        tags=tuple(written.get("tags") or ()),
        checks=checks,
        rule=_EACH,
        runs=None if own == making.runs else own,
        limits=Limits(
            timeout_s=float(written.get("timeout_seconds") or TIMEOUT_S), max_turns=written.get("max_turns") or TURNS
        ),
        files=files,
        installs=(*mocked.installs, *history(written, root, findings), *_system_prompt(written)),
        env=written.get("env") or {},
        setup=setup,
        setup_files=setup_files,
        extras=kept,
        origin=written.own,
    )


def _system_prompt(written: WrittenCase) -> tuple[Install, ...]:
    text = written.get("append_system_prompt")
    return () if text is None else (Install(kind=SYSTEM_PROMPT, name=SYSTEM_PROMPT, content={"text": text}),)


def runs_of(written: WrittenCase) -> int:
    """Return the repeats of a case."""
    runs: int = written.get("runs") or RUNS
    return runs


def _unnamed(grader: WrittenGrader) -> dict[str, JsonValue]:
    """Return a grader without its name, which is that of its check."""
    return {key: value for key, value in grader.values.items() if key != "name"}


def _setup(written: WrittenCase, findings: Findings) -> tuple[tuple[str, ...], tuple[FileSpec, ...]]:
    script = written.context.scaffold_script
    if script is None:
        return (), ()
    place = contained(written.folder, script)
    if place is None or not place.is_file():
        origin = Origin(written.own.file, ("context", "scaffold_script"))
        findings.refuse(f"there is no file {script!r} in the case", origin, "Paths start at the case's folder.")
        return (), ()
    name = place.relative_to(written.folder.resolve()).as_posix()
    own = [path for path in files_of(written.folder) if not _is_of_the_suite(path)]
    return (f'bash "{name}"',), tuple(file_spec(written.folder / path, path) for path in own)


def _is_of_the_suite(path: str) -> bool:
    """Tell whether a file of a case is a question, an answer or a result, and nothing that its script may need."""
    return path in (PROMPT_FILE, CASE_FILE) or path.startswith(f"{GRADERS}/") or path.endswith(".jsonl")


def _tell_of_case(written: WrittenCase, findings: Findings) -> None:
    """Refuse or tell what a case asks for beyond its prompt and its graders."""
    for name in written.get("env") or ():
        if not name.startswith(_VARIABLE):
            hint = f"Call it {_VARIABLE}{name}: the program lets every run of the case fail otherwise."
            findings.refuse(f"variable {name!r} does not begin with {_VARIABLE}", written.origin("env"), hint)
    for key in ("allowed_tools", "disallowed_tools"):
        if written.get(key):
            message = f"{key}: the engine says which tools there are, for all cases"
            findings.tell(message, written.origin(key))
