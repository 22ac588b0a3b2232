"""Which shapes the suites of skills have that people publish, and what becomes of them here.

Run: python benchmarks/dialect_census.py [FOLDER]

FOLDER holds a folder for each repository. Every file below it that is named like a suite is shown to the installed
formats, one by one, and loaded by the one that claims it; folders of cases are loaded together with the other cases of
their plugin. What is kept, in benchmarks/dialect_census.json, are shapes and counts: no text, no name, no path of
anybody. From that file and from the tables of the format `agent-skills` the tables of docs/dialects.md are written;
without FOLDER they are written from the counts that are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from skillgauge.api import Loaded, LoadRequest, Peers, Problem, SuiteError, SuiteFormat, located_all, parse_document
from skillgauge_format_agent_skills.checks.phrases import EXAMPLES, JSON_PHRASE
from skillgauge_format_agent_skills.checks.rules import RULES, kinds_of_rules
from skillgauge_format_agent_skills.checks.typed import JUDGED
from skillgauge_format_agent_skills.keys import ASSERTION_KEYS, FILE_KEYS, KEYS, NAMES
from skillgauge_format_agent_skills.recognition.shapes import CHECK_KEYS, LIST_KEYS, PROMPT_KEYS

ROOT = Path(__file__).resolve().parents[1]
COUNTS, PAGE = ROOT / "benchmarks/dialect_census.json", ROOT / "docs/dialects.md"
NAMED = re.compile(
    r"([^/]*[-_.])?evals?\.(json|jsonl|ya?ml)|eval\.vally\.ya?ml|[^/]*trigger[^/]*\.(json|ya?ml)"
    r"|[^/]*eval[-_]?quer(y|ies)[^/]*\.json|(train|validation)_queries\.json",
    re.IGNORECASE,
)
CASE_PARTS = ("prompt.md", "case.yaml", "graders", "task.md", "criteria.json")
EVALS, WORKFLOWS = "evals", (".github", "workflows")
_EFFECT = re.compile(r"without effect: (.*?)(?:;|$)")
_COUNTED = re.compile(r"'([^']+)' \((\d+)\)")
_QUERY = ("should_trigger", "expected_trigger", "should_fire", "should_activate")
Row = dict[str, Any]


class _Shapes:
    """What the files of the installed formats are known by, for a format that leaves other formats theirs."""

    def names(self) -> tuple[str, ...]:
        """The name of each shape."""
        return tuple(sorted(entry.name for entry in entry_points(group="skillgauge.shapes")))


def formats() -> dict[str, SuiteFormat]:
    """Every installed format, as its own distribution configures it."""
    providers = (
        provider for entry in entry_points(group="skillgauge.formats") for provider in entry.load().skillgauge_formats()
    )
    return {one.name: one.make(one.options(), cast(Peers, _Shapes())) for one in providers}


def census(folder: Path) -> dict[str, Any]:
    """The number of repositories with suites, and a row for each shape, the most frequent first."""
    here = formats()
    rows: dict[str, Row] = {}
    repositories: set[str] = set()
    suites: dict[Path, dict[Path, str]] = {}
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder).parts
        if path.is_dir() and (kind := case_kind(path)) and EVALS in inner[:-1]:
            suites.setdefault(folder.joinpath(*inner[: inner.index(EVALS) + 1]), {})[path] = kind
        elif NAMED.fullmatch(path.name) and path.is_file() and not _is_workflow(inner):
            _load(path, here, _row(rows, shape_of(path)))
        else:
            continue
        repositories.add(inner[0])
    for cases in suites.values():
        for kind in sorted(set(cases.values())):
            _load_cases([path for path, one in cases.items() if one == kind], here, _row(rows, kind))
    shapes = sorted(rows.values(), key=lambda row: (-row["files"], row["shape"]))
    return {"repositories": len(repositories), "shapes": shapes}


def _row(rows: dict[str, Row], shape: str) -> Row:
    empty = {
        "shape": shape,
        "files": 0,
        "loaded": 0,
        "in_part": 0,
        "by": Counter(),
        "refused": Counter(),
        "unused": Counter(),
    }
    return rows.setdefault(shape, empty)


def _is_workflow(parts: Sequence[str]) -> bool:
    return WORKFLOWS in pairwise(parts)


def case_kind(folder: Path) -> str:
    """What the files of a folder make it, in words; empty if it is no folder of a case."""
    has = {name for name in CASE_PARTS if (folder / name).exists()}
    if {"task.md", "criteria.json"} <= has:
        has_list = "checklist" in (folder / "criteria.json").read_text(encoding="utf-8", errors="replace")
        return f"folders with `task.md` and `criteria.json`{'' if has_list else ', no checklist'}"
    if "case.yaml" in has:
        return "folders with `case.yaml`"
    return "folders with `prompt.md` and `graders`" if {"prompt.md", "graders"} <= has else ""


def _load(path: Path, here: Mapping[str, SuiteFormat], row: Row) -> None:
    claims = [name for name, one in here.items() if one.claim(path) is not None]
    name = claims[0] if claims else "agent-skills"
    problems: Sequence[Problem] = ()
    can_run = False
    try:
        loaded = here[name].load(LoadRequest(paths=(str(path),), cwd=str(path.parent)))
        problems = loaded.problems
        can_run = any(not case.skip for suite in loaded.suites for case in suite.cases)
    except SuiteError as error:
        problems = error.problems
    else:
        _note_unused(loaded, row)
    row["files"] += 1
    if len(claims) > 1:
        row["refused"]["claimed by several formats"] += 1
    elif not can_run:
        row["refused"][_why(problems[0]) if problems else "no case"] += 1
    else:
        row["loaded"] += 1
        row["in_part"] += bool(problems)
        row["by"][name] += 1


def _load_cases(folders: Sequence[Path], here: Mapping[str, SuiteFormat], row: Row) -> None:
    """Load the cases below one folder of evals as a search for them does: all together."""
    row["files"] += len(folders)
    row["suites"] = row.get("suites", 0) + 1
    by_format: dict[str, list[str]] = {}
    for folder in folders:
        claims = [name for name, one in here.items() if one.claim(folder) is not None]
        if len(claims) == 1:
            by_format.setdefault(claims[0], []).append(str(folder))
        else:
            row["refused"]["claimed by several formats" if claims else "claimed by no format"] += 1
    for name, paths in by_format.items():
        loaded = here[name].load(LoadRequest(paths=(), searched=tuple(paths), cwd=str(folders[0])))
        _note_unused(loaded, row)
        count = sum(len(suite.cases) for suite in loaded.suites)
        row["loaded"] += count
        row["by"][name] += count
        if count < len(paths):
            row["refused"][_why(loaded.problems[0])] += len(paths) - count


def _note_unused(loaded: Loaded, row: Row) -> None:
    for warning in (one for suite in loaded.suites for one in suite.warnings):
        for part in _EFFECT.findall(warning.message):
            row["unused"].update({key: int(times) for key, times in _COUNTED.findall(part)})


def _why(problem: Problem) -> str:
    first = located_all([problem])[0]
    return f"{first.code}{'' if first.span and first.span.line else ' (no line)'}"


def shape_of(path: Path) -> str:
    """What a file looks like, in words that say nothing of what stands in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix == ".jsonl":
            return "JSON lines"
        value = parse_document(text, file=str(path), kind="json" if path.suffix == ".json" else "yaml").value
    except (SuiteError, UnicodeDecodeError):
        return "cannot be read"
    if isinstance(value, Mapping):
        return _of_object(value)
    return f"a list of {_of_items(value)}" if isinstance(value, tuple) else "no object and no list"


def _of_object(value: Mapping[str, Any]) -> str:
    if "stimuli" in value:
        return "an object with `stimuli`"
    if value.get("schema_version") == "v1alpha1":
        return "an object with `schema_version: v1alpha1`"
    if any(isinstance(value.get(key), tuple) and "trigger" in key for key in value):
        return "an object with lists of queries by their side"
    for key in ("queries", *LIST_KEYS, "tasks"):
        if isinstance(value.get(key), tuple):
            return f"an object with `{key}`: {_of_items(value[key])}"
    if any(key in value for key in PROMPT_KEYS) and any(key in value for key in CHECK_KEYS):
        return "a single eval in no list"
    return "another object"


_CLAIMS = ("assertions", "expectations", "expected_behavior")
_CHECKS = (*_CLAIMS, "expected_output", "ground_truth", "graders", "assert", "validators")
"""Keys of what is checked, the most telling first."""


def _of_items(items: tuple[Any, ...]) -> str:
    first = next((item for item in items if isinstance(item, Mapping)), None)
    if first is None:
        return "nothing" if not items else "what is no object"
    asks = next((key for key in (*PROMPT_KEYS, "instruction", "vars") if key in first), "no prompt")
    if _has_any(first, _QUERY) and not _has_any(first, _CLAIMS):
        return f"queries with `{asks}`"
    named = next((key for key in CHECK_KEYS if key in first), "nothing to check")
    checks = next((key for key in _CHECKS if first.get(key)), named)
    return f"`{asks}` and `{checks}`{_kind_of(first.get(checks))}"


def _has_any(item: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return any(key in item for key in keys)


def _kind_of(listed: object) -> str:
    """Return a mark for a list of anything but texts."""
    is_of_texts = not isinstance(listed, tuple) or all(isinstance(entry, str) for entry in listed)
    return "" if is_of_texts else " (objects)"


def census_table(counts: Mapping[str, Any]) -> str:
    """What was found, as Markdown."""
    rows: Sequence[Row] = counts["shapes"]
    lines = [
        "| shape | files | loaded | by | refused, with a place | keys without effect (times) |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        by, refused, unused = (_told(row[key]) for key in ("by", "refused", "unused"))
        files = f"{row['files']} in {row['suites']} suites" if "suites" in row else row["files"]
        loaded = f"{row['loaded']}, {row['in_part']} of them in part" if row.get("in_part") else row["loaded"]
        lines.append(f"| {row['shape']} | {files} | {loaded} | {by} | {refused} | {unused} |")
    files, loaded = (sum(row[key] for row in rows) for key in ("files", "loaded"))
    lines.append(f"| together, of {counts['repositories']} repositories | {files} | {loaded} | | {files - loaded} | |")
    return "\n".join(lines)


def _told(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"`{name}` {times}" for name, times in ordered)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def types_table() -> str:
    """Types of assertions that a program decides, from the code."""
    lines = ["| `type` | the value stands in | scorer | the contrary, with `negate` |", "|---|---|---|---|"]
    for names, keys, scorer, opposite in kinds_of_rules():
        told = ", ".join(f"`{name}`" for name in names)
        where = ", ".join(f"`{key}`" for key in keys)
        lines.append(f"| {told} | {where} | `{scorer}` | {f'`{opposite}`' if opposite else ''} |")
    lines += [
        "",
        f"{len(RULES)} names of types. A judge decides, by the name of the type: {_quoted(sorted(JUDGED))}.",
    ]
    phrases = ", ".join(f"`{one}`" for one in (*EXAMPLES, "matches regex /x/", JSON_PHRASE))
    return "\n".join(
        [*lines, "", f"Assertions that are nothing but such a phrase are decided by a program, too: {phrases}."]
    )


def keys_table() -> str:
    """What keys mean that neither skill-creator nor agentskills.io has, from the code."""
    lines = ["| in | key | what becomes of it |", "|---|---|---|"]
    for preferred, others in NAMES.items():
        lines.append(f"| eval | {', '.join(f'`{one}`' for one in others)} | read as `{preferred}` |")
    for where, table in (("eval", KEYS), ("assertion", ASSERTION_KEYS), ("file", FILE_KEYS)):
        for use in dict.fromkeys(table.values()):
            keys = ", ".join(f"`{key}`" for key, one in table.items() if one is use)
            lines.append(f"| {where} | {keys} | {use} |")
    return "\n".join(lines)


def page(text: str, counts: Mapping[str, Any]) -> str:
    """The page with its tables written anew."""
    for name, table in (("types", types_table()), ("keys", keys_table()), ("census", census_table(counts))):
        begin, end = f"<!-- {name}: written by benchmarks/dialect_census.py -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            raise ValueError(f"{PAGE.name} has no place for the table {name!r}")
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def main(arguments: Sequence[str]) -> None:
    """Count, and write the tables."""
    if arguments:
        counts = census(Path(arguments[0]))
        COUNTS.write_text(f"{json.dumps(counts, indent=1)}\n", encoding="utf-8")
    PAGE.write_text(
        page(PAGE.read_text(encoding="utf-8"), json.loads(COUNTS.read_text(encoding="utf-8"))), encoding="utf-8"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
