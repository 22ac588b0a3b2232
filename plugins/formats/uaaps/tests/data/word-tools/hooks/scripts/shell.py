"""Refuse to delete generated files: exit 0 with a decision on stdout."""

import json
import sys

event = json.load(sys.stdin)
command = (event.get("toolInput") or event.get("tool_input") or {}).get("command", "")
denied = "rm " in command and "generated" in command
print(
    json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": "pre-tool-use",
                "permissionDecision": "deny" if denied else "allow",
                "permissionDecisionReason": "generated files stay" if denied else "fine",
            }
        }
    )
)
