#!/usr/bin/env python3
"""Stand in for an agent: do what the skill says, and forget the ticket in about half of the nights.

Called with a prompt and the folder of skills. The variable NIGHT decides what it forgets, so that each night is the
same whenever it is played.
"""

import os
import random
import sys
from pathlib import Path


def main() -> None:
    """Print the answer to the prompt."""
    prompt, folder = sys.argv[1], Path(sys.argv[2])
    skills = {path.parent.name: path.read_text() for path in folder.glob("*/SKILL.md")}
    if "commit message" in prompt:
        print(commit_message(prompt, skills.get("commit-messages", "")))
    else:
        print(rewritten(prompt, skills.get("iso-dates", "")))


def commit_message(prompt: str, skill: str) -> str:
    """Return a commit message; in the house style if the skill is there."""
    subject = prompt.partition(": ")[2].rstrip(".")
    if not skill:
        return subject.capitalize()
    change, _, ticket = subject.partition(", ticket ")
    kind = "feat" if "can be" in change else "fix"
    remembers = random.Random(f"night {os.environ['NIGHT']}").random() < 0.5
    return f"{kind}: {change.lower()}" + (f" ({ticket})" if ticket and remembers else "")


def rewritten(prompt: str, skill: str) -> str:
    """Return the sentence with its date, as far as the skill says how."""
    text = prompt.partition(": ")[2]
    if "YYYY-MM-DD" in skill:
        text = text.replace("the 3rd of May 2027", "2027-05-03")
    if "HH:MMZ" in skill:
        text = text.replace("half past two in the afternoon, UTC", "14:30Z")
    return text


main()
