"""Check a release note of Harbour: exit code 0 if it keeps the rules, 1 with what is wrong if not."""

import re
import sys
from pathlib import Path

AREAS = ("QUAY", "CRANE", "BUOY", "LOG", "HULL")
KINDS = ("New", "Better", "Mended", "Gone")
FIRST = re.compile(r"\[(?P<area>\w+)\] (?P<kind>\w+): (?P<sentence>.+)")


def faults(path):
    """Yield what is wrong with the note at a path."""
    if not path.is_file():
        yield f"{path} is not there"
        return
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    first = FIRST.fullmatch(lines[0])
    if first is None:
        yield f"line 1 is not '[<area>] <kind>: <sentence>': {lines[0]!r}"
        return
    if first["area"] not in AREAS:
        yield f"area {first['area']!r} is none of {', '.join(AREAS)}"
    if first["kind"] not in KINDS:
        yield f"kind {first['kind']!r} is none of {', '.join(KINDS)}"
    sentence = first["sentence"]
    if not sentence[0].isupper() or not sentence.endswith(".") or len(sentence) > 100:
        yield "the sentence needs a capital letter, a full stop, and at most 100 characters"
    rest = [f"Ticket: {path.stem}"] + (["Upgrade: "] if first["kind"] == "Gone" else [])
    if len(lines) != len(rest) + 1 or not all(map(str.startswith, lines[1:], rest)):
        yield f"after the first line there must be {' and '.join(map(repr, rest))}"
    elif lines[1] != rest[0]:
        yield f"the ticket must be that of the file, {path.stem!r}"


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1])))
    for fault in found:
        print(fault, file=sys.stderr)
    sys.exit(1 if found else 0)
