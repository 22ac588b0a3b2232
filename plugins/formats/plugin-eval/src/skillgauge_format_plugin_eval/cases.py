"""From a case as it is written to a case that is run."""

from __future__ import annotations

from pathlib import Path

from skillgauge.api import Case, FileSpec, JsonValue, Limits, Origin, VerdictMode, VerdictRule
from skillgauge_skill_folders import contained, file_spec, files_of

from .claiming import CASE_FILE, EVALS, GRADERS, PROMPT_FILE
from .folders import readable_files
from .graders import Plugin, checks_of
from .reading import Findings, WrittenCase, WrittenGrader

TIMEOUT_S, TURNS, RUNS = 300, 10, 3
"""Limits and repeats of a case that says nothing."""
_EACH = VerdictRule(mode=VerdictMode.EACH)
_VARIABLE = "EVAL_"
KEPT = ("expected_outcome", "allowed_tools", "disallowed_tools", "model")
"""Keys of a case that are written back, and have no place of their own here."""


def case_of(written: WrittenCase, root: Path, plugin: Plugin, findings: Findings, runs: int) -> Case:
    """Make a case of a plugin's folder, noting what cannot be honoured.

    Args:
        written: the case.
        root: folder of the plugin.
        plugin: what it brings.
        findings: takes what cannot be honoured.
        runs: repeats of its suite; the case keeps a number of its own where it differs.
    """
    folder = written.folder
    place = folder.resolve().relative_to(root.resolve()).parts
    at = place.index(EVALS) if EVALS in place else 0
    checks = checks_of(written.graders, plugin, findings)
    setup, setup_files = _setup(written, findings)
    files = readable_files(written, root, findings)
    _tell_of_case(written, findings)
    kept: dict[str, JsonValue] = {key: written.get(key) for key in KEPT if written.get(key) is not None}
    own = runs_of(written)
    kept["graders"] = {check.id: _unnamed(one) for check, one in zip(checks, written.graders, strict=False)}
    return Case(
        id="/".join((*place[:at], *place[at + 1 :])),
        name=written.get("name") or folder.name,
        description=written.get("description") or "",
        prompt=written.prompt,
        tags=tuple(written.get("tags") or ()),
        checks=checks,
        rule=_EACH,
        runs=None if own == runs else own,
        limits=Limits(
            timeout_s=float(written.get("timeout_seconds") or TIMEOUT_S), max_turns=written.get("max_turns") or TURNS
        ),
        files=files,
        env=written.get("env") or {},
        setup=setup,
        setup_files=setup_files,
        extras=kept,
        origin=written.own,
    )


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
    context = written.context
    if context.history_file is not None:
        hint = "Put what was said before into the prompt."
        findings.refuse("a session is not continued", Origin(written.own.file, ("context", "history_file")), hint)
    if written.get("append_system_prompt") is not None:
        hint = "Put it into the prompt, where both arms have it."
        findings.refuse("no case adds to the system prompt", written.origin("append_system_prompt"), hint)
    for name in written.get("env") or ():
        if not name.startswith(_VARIABLE):
            hint = f"Call it {_VARIABLE}{name}: the program lets every run of the case fail otherwise."
            findings.refuse(f"variable {name!r} does not begin with {_VARIABLE}", written.origin("env"), hint)
    for key in ("allowed_tools", "disallowed_tools"):
        if written.get(key):
            message = f"{key}: the engine says which tools there are, for all cases"
            findings.tell(message, written.origin(key))
    mocks = [one for folder in (written.folder, *written.folder.parents[:3]) if (one := folder / "mocks").is_dir()]
    if mocks:
        hint = "Take the folder away to run with the plugin's own servers."
        findings.refuse("mocks of servers are not played", Origin(str(mocks[0])), hint)
