#!/usr/bin/env python3
"""An agent that speaks the protocol and does what its prompt says; nothing but the standard library."""

import json
import os
import sys
import time
from pathlib import Path


def send(message):
    """Write a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    """Read a message; the end of input is the end of the agent."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(**fields):
    """Tell something."""
    send({"method": "session/update", "params": {"sessionId": "s1", "update": fields}})


def say(text, **more):
    """A piece of a message."""
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text}, **more)


def ask(method, **params):
    """Ask the client and give its answer."""
    send({"id": "q1", "method": method, "params": {"sessionId": "s1", **params}})
    while True:
        message = receive()
        if message.get("id") == "q1":
            return message


def usage():
    """What it claims to have used."""
    return {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}


def again(method, mode):
    """Open an earlier session; one that is loaded is told all over again before it is."""
    words = Path(os.environ["HOME"], "said").read_text().splitlines()
    if method == "session/load":
        update(sessionUpdate="user_message_chunk", content={"type": "text", "text": words[-1]})
        update(sessionUpdate="tool_call", toolCallId="t1", name="read", title="Read", status="completed")
        say(f"you said {words[-1]}")
    return {"error": {"code": -32002, "message": "no such session"}} if mode == "forgetful" else {"result": {}}


def abilities(mode):
    """What it says that it can do with earlier sessions."""
    if mode == "resumes":
        return {"loadSession": True, "sessionCapabilities": {"resume": {}}}
    return {"loadSession": mode != "closed"}


def noise():
    """Lines that are no messages, and messages that nobody expects."""
    sys.stdout.write("a banner\n\n{not json}\n[1]\n")
    send({"id": 99, "result": None})
    send({"method": "_vendor/news", "params": 7})
    send({"method": "session/update", "params": {"update": "what"}})
    update(sessionUpdate="tool_call", title="without an id")
    update(sessionUpdate="of_the_future", value=1)
    sys.stdout.flush()
    sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "method": "x", "params": {"t": "\xff\\ud800"}}\n')
    say("still here")


def files():
    """Ask for what was never offered."""
    path = str(Path("a.txt").resolve())
    answers = [ask("fs/read_text_file", path=path), ask("fs/write_text_file", path=path, content="x")]
    answers.append(ask("terminal/create", command="true"))
    say(" ".join(str(answer["error"]["code"]) for answer in answers))


def permission(kinds):
    """Ask for a permission."""
    call = {"toolCallId": "t1", "title": "Do it", "kind": "execute", "rawInput": {"command": "true"}}
    options = [{"optionId": f"the-{kind}", "name": kind, "kind": kind} for kind in kinds]
    outcome = ask("session/request_permission", toolCall=call, options=options)["result"]["outcome"]
    update(sessionUpdate="tool_call_update", toolCallId="t1", status="completed", rawOutput="did it")
    say(outcome.get("optionId", outcome["outcome"]))


def pieces():
    """Messages, thoughts and calls in pieces, and a plan."""
    update(sessionUpdate="agent_thought_chunk", content={"type": "text", "text": "hm"})
    for text in ("one ", "message"):
        say(text, messageId="m1")
    entries = [{"content": "look", "status": "pending", "priority": "high"}]
    update(sessionUpdate="plan", entries=entries)
    update(sessionUpdate="tool_call", toolCallId="t1", name="read", kind="read", title="Read", rawInput={})
    update(sessionUpdate="tool_call_update", toolCallId="t1", rawInput={"path": "x"})
    update(sessionUpdate="tool_call", toolCallId="t2", kind="execute", title="never ends")
    content = [{"type": "content", "content": {"type": "text", "text": "found"}}, {"type": "diff", "path": "a"}]
    update(sessionUpdate="tool_call_update", toolCallId="t1", status="completed", content=content)
    say("the end", messageId="m2")


def hang():
    """Work until somebody cancels, and say so in a file."""
    update(sessionUpdate="plan", entries=[{"content": "work", "status": "in_progress"}])
    update(sessionUpdate="tool_call", toolCallId="t1", kind="execute", title="work", status="in_progress")
    while True:
        if receive().get("method") == "session/cancel":
            Path(os.environ["HOME"], "cancelled").touch()
            return "cancelled"


def skill(name, status="completed"):
    """Load a skill as several agents tell it: arguments and titles come in pieces, tokens with messages."""
    counts = {"inputTokens": 1000, "outputTokens": 20, "totalTokens": 1020, "cachedReadTokens": 900}
    update(
        sessionUpdate="tool_call", toolCallId="t1", title="Skill", kind="read", rawInput={}, _meta={"toolName": "skill"}
    )
    say("", _meta={"usage": counts})
    update(sessionUpdate="tool_call_update", toolCallId="t1", title=f'Use skill: "{name}"')
    update(sessionUpdate="tool_call_update", toolCallId="t1", title="Skill", status=status, rawOutput="loaded")
    say("", _meta={"usage": {**counts, "cachedReadTokens": 0}})
    say("done")


def vibe(name):
    """Load a skill as Mistral Vibe tells it, and write down the settings that it was given."""
    for path in sorted(Path(os.environ["HOME"], ".vibe").iterdir(), reverse=True):
        # Its list of folders goes before its settings, whose tables would swallow it.
        sys.stderr.write(path.read_text())
    named = {"title": "Load the skill", "_meta": {"tool_name": "skill", "skill_name": name}}
    update(sessionUpdate="tool_call", toolCallId="t1", kind="read", rawInput={"name": name}, **named)
    update(sessionUpdate="tool_call_update", toolCallId="t1", status="completed", _meta=named["_meta"])
    say("done")


def perform(prompt):
    """What a prompt stands for; the reason to stop."""
    word, _, rest = prompt.partition(" ")
    if word == "noise":
        noise()
    elif word == "files":
        files()
    elif word == "permission":
        permission(rest.split())
    elif word == "pieces":
        pieces()
    elif word == "hang":
        return hang()
    elif word == "deaf":
        time.sleep(60)
    elif word == "stop":
        say("so far")
        return rest
    elif word == "skill":
        skill(*rest.split())
    elif word == "trouble":
        say("I look.")
        update(sessionUpdate="usage_update", used=1, size=2)
        for piece in rest.split("|"):
            say(piece)
    elif word == "retry":
        say("I look.")
        for _ in range(200):
            say("Info: I ask again")
            say("")
            time.sleep(0.1)
    elif word == "silent-end":
        say("I look.")
        update(sessionUpdate="tool_call", toolCallId="t1", name="read", kind="read", title="Read", status="completed")
    elif word == "vibe":
        vibe(rest)
    elif word == "crash":
        say("half")
        sys.stderr.write("out of luck\n")
        sys.exit(3)
    elif word == "recall":
        say(" ".join(Path(os.environ["HOME"], "said").read_text().splitlines()))
    elif word == "key":
        say(os.environ["OPENAI_API_KEY"])
        sys.stderr.write(os.environ["OPENAI_API_KEY"])
    else:
        say(f"you said {prompt}")
    return "end_turn"


def main():
    """Answer until nobody asks."""
    if "--version" in sys.argv:
        sys.stdout.write("2.6.0\n")
        return
    mode = os.environ.get("SCRIPTED_AGENT", "")
    while True:
        message = receive()
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            if mode == "slow":
                time.sleep(60)
            version = 7 if mode == "future" else message["params"]["protocolVersion"]
            info = {"agentInfo": {"name": "x", "version": "9"}, "agentCapabilities": abilities(mode)}
            send({"id": number, "result": {"protocolVersion": version, **info}})
        elif method in ("session/load", "session/resume"):
            send({"id": number, **again(method, mode)})
        elif method == "session/new":
            assert Path(message["params"]["cwd"]).samefile(Path.cwd())
            if mode == "locked":
                send({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
            else:
                send({"id": number, "result": {} if mode == "nameless" else {"sessionId": "s1"}})
        elif method == "session/set_title":
            answer = {"error": {"code": -32601, "message": "no"}} if mode == "untitled" else {"result": {}}
            send({"id": number, **answer})
        elif method == "session/prompt":
            prompt = message["params"]["prompt"][0]["text"]
            with Path(os.environ["HOME"], "said").open("a") as said:
                said.write(f"{prompt}\n")
            if prompt.startswith("error "):
                code, _, told = prompt.removeprefix("error ").partition(" ")
                message, _, details = told.partition("|")
                data = {"data": {"details": details}} if details else {}
                send({"id": number, "error": {"code": int(code), "message": message, **data}})
                continue
            answer = {"stopReason": perform(prompt)}
            send({"id": number, "result": answer if prompt == "silent" else {**answer, "usage": usage()}})


main()
