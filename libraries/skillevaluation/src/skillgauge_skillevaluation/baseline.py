"""The key under which skillevaluation keeps a session without the skill."""

from __future__ import annotations

import hashlib
import json


def baseline_key(*, skill: str, case: str, prompt: str, run: int = 0) -> str:
    """The published key.

    Args:
        skill: name of the skill.
        case: name of the case.
        prompt: as it is sent.
        run: number of the run, from 0.
    """
    parts: dict[str, object] = {"case": case, "prompt": prompt, "skill": skill} | ({"trial": run} if run else {})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
