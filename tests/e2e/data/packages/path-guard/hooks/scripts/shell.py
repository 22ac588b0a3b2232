"""Deny deleting from the root: exit 0 and a decision."""

from events import TOOL_INPUT, decision

deletes = "rm -r /" in TOOL_INPUT.get("command", "")
print(decision("deny" if deletes else "allow", "deletes from the root" if deletes else "harmless"))
