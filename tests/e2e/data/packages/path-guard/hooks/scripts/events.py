"""The event on stdin, in either spelling."""

import json
import sys

EVENT = json.load(sys.stdin)
TOOL_INPUT = EVENT.get("toolInput") or EVENT.get("tool_input") or {}


def decision(verdict, reason):
    """What the specification says a hook prints."""
    said = {"hookEventName": "pre-tool-use", "permissionDecision": verdict, "permissionDecisionReason": reason}
    return json.dumps({"hookSpecificOutput": said})
