"""A folder with skills."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

CALCULATOR = Path(__file__).parents[4] / "examples/skills/calculator"


MakeSkill = Callable[..., Path]


@pytest.fixture
def make_skill(work: Path) -> MakeSkill:
    """Copy the calculator to `skills/<place>`, with some keys of its skill.json changed."""

    def make(place: str, /, **changes: object) -> Path:
        folder = work / "skills" / place
        shutil.copytree(CALCULATOR, folder)
        file = folder / "skill.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"id": Path(place).name} | changes))
        return folder

    return make
