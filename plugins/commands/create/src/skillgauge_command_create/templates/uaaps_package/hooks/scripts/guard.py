"""Refuse writes to .env files: exit 2, with the reason on stderr."""

import json
import sys

event = json.load(sys.stdin)
path = str((event.get("toolInput") or {}).get("file_path", ""))
if path.endswith(".env"):
    print(f"{path} holds secrets", file=sys.stderr)
    sys.exit(2)
