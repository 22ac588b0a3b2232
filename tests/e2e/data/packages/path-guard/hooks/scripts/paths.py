"""Deny writing to the system's folders: exit 2, a reason on stderr and the decision on stdout."""

import os.path
import sys

from events import TOOL_INPUT, decision

path = os.path.normpath(TOOL_INPUT.get("file_path", ""))
if path.startswith(("/etc/", "/usr/")):
    print(decision("deny", f"{path} belongs to the system"))
    print(f"refused: {path} belongs to the system", file=sys.stderr)
    sys.exit(2)
