"""Check the evals of a skill: exit code 0 if they can decide something, 1 with what is wrong if not.

python3 check_evals.py SKILL_FOLDER [--evals | --queries]
"""

import json
import sys
from pathlib import Path

DECIDED = ("command", "contains", "not-contains", "regex", "file-exists", "not-file-exists", "json-schema")
FEWEST_EVALS, FEWEST_QUERIES = 4, 2


def read(path):
    """Return the JSON value of a file, and what is wrong with it."""
    if not path.is_file():
        return None, [f"{path} is not there"]
    try:
        return json.loads(path.read_text(encoding="utf-8")), []
    except ValueError as error:
        return None, [f"{path}: no JSON: {error}"]


def faults_of_evals(path, skill):
    """Yield what is wrong with evals.json."""
    document, faults = read(path)
    yield from faults
    if faults:
        return
    evals = document.get("evals") if isinstance(document, dict) else None
    if not isinstance(evals, list) or not all(isinstance(each, dict) for each in evals):
        yield f"{path}: expected an object with a list 'evals' of objects"
        return
    if document.get("skill_name") != skill:
        yield f"{path}: skill_name is {document.get('skill_name')!r} instead of {skill!r}"
    if len(evals) < FEWEST_EVALS:
        yield f"{path}: {len(evals)} evals; write at least {FEWEST_EVALS}"
    ids = [each.get("id") for each in evals]
    if len(set(map(str, ids))) < len(ids):
        yield f"{path}: an id is used twice"
    for position, item in enumerate(evals, 1):
        yield from (f"{path}: eval {position}: {fault}" for fault in faults_of_eval(item, skill))


def faults_of_eval(item, skill):
    """Yield what is wrong with an eval."""
    prompt = item.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        yield "it has no prompt"
    elif skill.lower() in prompt.lower():
        yield f"its prompt names the skill {skill!r}, which no user would"
    assertions = item.get("assertions") or item.get("expectations") or []
    objects = [each for each in assertions if isinstance(each, dict)] if isinstance(assertions, list) else []
    if not any(each.get("type") in DECIDED and each.get("value") for each in objects):
        yield f"no program decides it; add an assertion of type {', '.join(DECIDED)}"


def faults_of_queries(path):
    """Yield what is wrong with trigger_evals.json."""
    document, faults = read(path)
    yield from faults
    if faults:
        return
    is_list = isinstance(document, list) and all(isinstance(each, dict) and each.get("query") for each in document)
    if not is_list:
        yield f"{path}: expected a list of objects with 'query' and 'should_trigger'"
        return
    for wanted in (True, False):
        number = sum(each.get("should_trigger") is wanted for each in document)
        if number < FEWEST_QUERIES:
            yield f"{path}: {number} queries with should_trigger {str(wanted).lower()}; write at least {FEWEST_QUERIES}"


def main(folder, part=""):
    """Print what is wrong, and return the exit code."""
    evals = Path(folder, "evals")
    faults = []
    if part != "--queries":
        faults += faults_of_evals(evals / "evals.json", Path(folder).resolve().name)
    if part != "--evals":
        faults += faults_of_queries(evals / "trigger_evals.json")
    print("\n".join(faults) or "the evals can decide something")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
