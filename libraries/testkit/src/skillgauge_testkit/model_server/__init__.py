"""A scripted model server on the loopback interface, so that judges and engines are tested over real HTTP.

It speaks four wire formats, one of them also as clouds do, as documents and as streams. It answers what it is told to,
in every wrong way too, and remembers what it was asked. Real agent programs run against it to their end.
"""

from __future__ import annotations

from .replies import ModelFault, ModelReply, Script, TokenCount, ToolCall, ToolChoice
from .requests import Conversation, ModelRequest, Part, Role
from .scripts import Step, by_prompt, in_turns, with_skill
from .server import ModelServer, ScriptError
from .sessions import ModelSession
from .tools import read_file, run_shell, use_skill, write_file

__all__ = [
    "Conversation",
    "ModelFault",
    "ModelReply",
    "ModelRequest",
    "ModelServer",
    "ModelSession",
    "Part",
    "Role",
    "Script",
    "ScriptError",
    "Step",
    "TokenCount",
    "ToolCall",
    "ToolChoice",
    "by_prompt",
    "in_turns",
    "read_file",
    "run_shell",
    "use_skill",
    "with_skill",
    "write_file",
]
