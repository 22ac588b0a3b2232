"""Print the number of words and lines of a text as JSON. Exit 4: the file cannot be read."""

import json
import sys
from pathlib import Path

source = sys.argv[1]
try:
    text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
except OSError as error:
    print(f"cannot read {source}: {error.strerror}", file=sys.stderr)
    sys.exit(4)
words = text.split()
print(json.dumps({"words": len(words), "lines": len(text.splitlines()), "longest": max(words, key=len, default=None)}))
