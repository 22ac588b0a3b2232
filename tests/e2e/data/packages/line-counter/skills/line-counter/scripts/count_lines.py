"""Count the lines of a file by their first letter: a JSON document on stdout, 2 if it cannot be read."""

import json
import os
import sys
from pathlib import Path

source = sys.argv[1]
if source != "-" and not Path(source).is_file():
    print(f"no such list: {source}", file=sys.stderr)
    sys.exit(2)
lines = [one for one in (sys.stdin.read() if source == "-" else Path(source).read_text()).splitlines() if one]
letters = sorted({one[0] for one in lines})
if len(sys.argv) > 2 and sys.argv[2] not in letters:
    print(f"no line begins with {sys.argv[2]}", file=sys.stderr)
    sys.exit(1)
groups = [{"letter": one, "lines": sum(line[0] == one for line in lines), "note": None} for one in letters]
print(json.dumps({"unit": os.environ.get("COUNT_UNIT", "lines"), "total": len(lines), "groups": groups}))
