"""An agent for probes, of the protocol or run to its end; nothing but the standard library."""

import json
import os
import pathlib
import sys
import time
import urllib.request

SKILLS = ".agents/skills"
TOOL = {"name": "skill", "parameters": {"type": "object", "properties": {"skill": {"type": "string"}}}}


def ask(messages):
    """Ask the model, with the skills of the one folder that this agent knows."""
    names = sorted(path.name for path in pathlib.Path(SKILLS).iterdir())
    system = {"role": "system", "content": f"Skills: {names}"}
    body = {"model": "m", "messages": [system, *messages], "tools": [{"type": "function", "function": TOOL}]}
    address = os.environ.get("STAND_IN_SERVER") or os.environ["OPENAI_BASE_URL"]
    request = urllib.request.Request(
        f"{address}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def send(message):
    """Write a line."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def session(prompt):
    """Yield what happens: a call of the tool for skills, each use of tokens, the answer."""
    messages = [{"role": "user", "content": prompt}]
    while True:
        told = ask(messages)
        message = told["choices"][0]["message"]
        yield "used", told["usage"]
        if not message.get("tool_calls"):
            yield "said", message["content"]
            return
        messages.append(message)
        for call in message["tool_calls"]:
            yield "called", (call["function"]["name"], json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "loaded"})


def protocol():
    """Speak the Agent Client Protocol."""
    for line in sys.stdin:
        message = json.loads(line)
        answer = {"protocolVersion": 1, "agentInfo": {"name": "stand-in", "version": "1.2.3"}}
        if message["method"] == "session/new":
            answer = {"sessionId": "s"}
        if message["method"] == "session/prompt":
            output = 0
            for kind, value in session(message["params"]["prompt"][0]["text"]):
                if kind == "said":
                    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": value}}
                elif kind == "called":
                    call = {"toolCallId": "1", "title": f"Using skill: {value[1]['skill']}", "rawInput": value[1]}
                    update = {"sessionUpdate": "tool_call", **call}
                else:
                    output += value["completion_tokens"]
                    continue
                send({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
            answer = {"stopReason": "end_turn", "usage": {"outputTokens": output}}
        send({"jsonrpc": "2.0", "id": message["id"], "result": answer})


def stream(prompt):
    """Write what happens as lines of JSON."""
    for kind, value in session(prompt):
        if kind == "said":
            send({"type": "text", "part": {"text": value}})
        elif kind == "called":
            send({"type": "tool", "part": {"tool": value[0], "input": value[1]}})
        else:
            cached = value["prompt_tokens_details"]["cached_tokens"]
            tokens = {"in": value["prompt_tokens"] - cached, "out": value["completion_tokens"], "cached": cached}
            send({"type": "step", "part": {"tokens": tokens}})
    send({"type": "end"})


if sys.argv[1] == "acp":
    protocol()
elif sys.argv[1] == "hang":
    pathlib.Path(sys.argv[2]).write_text(str(os.getpid()))
    time.sleep(600)
else:
    stream(sys.argv[2])
