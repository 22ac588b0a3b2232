"""Refuse writes to generated files: exit 2, with the decision on stdout and the reason on stderr."""

import json
import sys

event = json.load(sys.stdin)
path = (event.get("toolInput") or event.get("tool_input") or {}).get("file_path", "")
if "/generated/" in f"/{path}":
    reason = f"{path} is generated"
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "pre-tool-use",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                }
            }
        )
    )
    print(f"write refused: {reason}", file=sys.stderr)
    sys.exit(2)
