#!/usr/bin/env python3
"""The agent of a vendor, as small as one can be: it asks a model, runs the tools that the model calls, and tells all.

`acme-agent run --api URL --model NAME` reads a prompt from stdin, finds skills below `.acme/skills`, asks Chat
Completions with the key in `ACME_API_KEY`, and writes what happens to stdout, one JSON object per line.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

VERSION = "1.4.0"
MOST_REQUESTS = 20


def tell(event, **facts):
    """Write one line."""
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


def described(path):
    """The description in the front matter of a SKILL.md."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("description:")), "")


def function(name, *arguments, **choices):
    """A tool as the API wants it described: all its arguments are texts."""
    texts = {argument: {"type": "string", **choices} for argument in arguments}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": texts}}}


def ask(url, body):
    """The answer of the model, as the API gives it."""
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ.get('ACME_API_KEY', '')}"}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def use(tool, arguments, skills):
    """What a tool answers, and whether it did what it was asked to."""
    try:
        if tool == "load_skill":
            text = skills[arguments["name"]].read_text(encoding="utf-8")
            tell("skill_loaded", skill=arguments["name"])
            return text, True
        path = Path(arguments["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(arguments["content"], encoding="utf-8")
        return f"wrote {path}", True
    except (KeyError, OSError) as error:
        return f"{tool} failed: {error!r}", False


def work(prompt, url, model, skills):
    """Ask and do what the model says, until it says no more."""
    listed = "\n".join(f"- {name}: {described(path)}" for name, path in skills.items())
    tools = [function("write_file", "path", "content")]
    messages = [{"role": "user", "content": prompt}]
    if skills:
        tools.append(function("load_skill", "name", enum=list(skills)))
        messages.insert(0, {"role": "system", "content": f"Available skills, load one before you use it:\n{listed}"})
    given = made = 0
    for _ in range(MOST_REQUESTS):
        answer = ask(url, {"model": model, "messages": messages, "tools": tools})
        if usage := answer.get("usage"):
            given, made = given + usage["prompt_tokens"], made + usage["completion_tokens"]
            tell("tokens", input=given, output=made)
        message = answer["choices"][0]["message"]
        messages.append(message)
        if message.get("content"):
            tell("message", text=message["content"])
        for call in message.get("tool_calls", ()):
            tool, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            tell("tool", id=call["id"], tool=tool, arguments=arguments)
            output, is_done = use(tool, arguments, skills)
            tell("tool_output", id=call["id"], output=output, ok=is_done)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
        if not message.get("tool_calls"):
            return tell("finished", answer=message["content"])
    return tell("error", status=None, message=f"no end after {MOST_REQUESTS} requests")


def main():
    """Run one session; exit code 1 if the model could not be asked."""
    parser = argparse.ArgumentParser(prog="acme-agent")
    parser.add_argument("--version", action="version", version=f"acme-agent {VERSION}")
    run = parser.add_subparsers(required=True).add_parser("run")
    run.add_argument("--api", required=True)
    run.add_argument("--model", required=True)
    options = parser.parse_args()
    skills = {path.parent.name: path for path in sorted(Path(".acme/skills").glob("*/SKILL.md"))}
    tell("session", model=options.model, skills=list(skills))
    try:
        work(sys.stdin.read(), options.api, options.model, skills)
    except urllib.error.HTTPError as error:
        tell("error", status=error.code, message=error.read().decode("utf-8", "replace"))
        return 1
    except (OSError, ValueError, KeyError) as error:
        tell("error", status=None, message=f"cannot ask the model: {error!r}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
