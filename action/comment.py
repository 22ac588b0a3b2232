"""Keep one comment of a pull request up to date: `comment.py FILE`, as a step of the action beside it.

Needs nothing but Python. What goes wrong is a warning: that a comment could not be written says nothing of the skill.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

_PAGE, _MOST_PAGES, _SECONDS = 100, 50, 30
_OWN = ("OWNER", "MEMBER", "COLLABORATOR")


def main(file: str) -> str:
    """Write the comment, and tell what was done.

    Raises:
        OSError: the service does not answer, or refuses.
        ValueError: its answer is none.
    """
    path, number = Path(file), _pull_request()
    if not path.is_file():
        return "skillgauge: no report, so no comment"
    if number is None:
        return "skillgauge: no pull request, so no comment"
    text = path.read_text(encoding="utf-8")
    marker = text.partition("\n")[0]
    place = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    earlier = _earlier(f"{place}/{number}/comments", marker)
    if earlier is None:
        _ask("POST", f"{place}/{number}/comments", {"body": text})
        return "skillgauge: commented"
    _ask("PATCH", f"{place}/comments/{earlier}", {"body": text})
    return "skillgauge: the comment is up to date"


def _pull_request() -> int | None:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = event.get("pull_request", {}).get("number")
    return number if isinstance(number, int) else None


def _earlier(place: str, marker: str) -> int | None:
    """The comment of an earlier run, written by a program or by somebody who may write here: all others may copy it."""
    for page in range(1, _MOST_PAGES + 1):
        comments = _ask("GET", f"{place}?per_page={_PAGE}&page={page}")
        for one in comments:
            ours = one["user"]["type"] == "Bot" or one["author_association"] in _OWN
            if ours and one["body"].startswith(marker):
                return int(one["id"])
        if len(comments) < _PAGE:
            return None
    return None


def _ask(method: str, address: str, document: object = None) -> Any:
    request = urllib.request.Request(
        address,
        data=None if document is None else json.dumps(document).encode(),
        method=method,
        headers={
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return json.load(answer)


if __name__ == "__main__":
    try:
        print(main(sys.argv[1]))
    except urllib.error.HTTPError as error:
        print(f"::warning title=skillgauge::No comment: the answer is {error.code}. Has the job pull-requests: write?")
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"::warning title=skillgauge::No comment: {type(error).__name__}.")
