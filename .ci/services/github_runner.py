"""Play the part of a runner of GitHub Actions for a composite action, without a container and without GitHub.

    python .ci/services/github_runner.py action paths=my-skill version=none engine=mock

It knows what the actions and workflows of this repository use: `run` steps of bash, inputs with defaults, expressions
in `env`, `if` and outputs, and the files and the lines on stdout with which a step talks to its runner.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_COMMAND = re.compile(r"::([\w-]+)(?: (.*?))?::(.*)")


@dataclass
class Played:
    """What came of a step or of an action."""

    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    """Lines that the runner obeys: command, properties, message."""
    ran: list[str] = field(default_factory=list)
    """Names of the steps that ran."""


class Runner:
    """Plays steps in a workspace.

    Args:
        workspace: where the repository was checked out.
        temporary: a folder for what the runner keeps.
        environment: all the variables that steps get beside the runner's own.
        event: what started the workflow.
        contexts: values of expressions, as `github` and `secrets`.
    """

    def __init__(
        self,
        workspace: Path,
        temporary: Path,
        environment: Mapping[str, str],
        event: Mapping[str, Any] | None = None,
        **contexts: Mapping[str, str],
    ) -> None:
        self._workspace, self._temporary = workspace, temporary
        (temporary / "event.json").write_text(json.dumps(event or {}), encoding="utf-8")
        (temporary / "runner").mkdir()
        self._environment = {
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_WORKSPACE": str(workspace),
            "GITHUB_EVENT_PATH": str(temporary / "event.json"),
            "RUNNER_TEMP": str(temporary / "runner"),
            **environment,
        }
        self._contexts = contexts
        self._files = 0

    def action(self, folder: Path, inputs: Mapping[str, str], environment: Mapping[str, str] | None = None) -> Played:
        """Play a composite action to its end."""
        action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
        unknown = sorted(inputs.keys() - action["inputs"].keys())
        if unknown or action["runs"]["using"] != "composite":
            raise ValueError(f"not a composite action, or without these inputs: {unknown}")
        given = {name: self.text(one.get("default", ""), {}) for name, one in action["inputs"].items()}
        contexts: dict[str, Any] = {"inputs": given | dict(inputs), "steps": {}}
        whole = self._steps(
            action["runs"]["steps"], contexts, {**(environment or {}), "GITHUB_ACTION_PATH": str(folder)}
        )
        whole.outputs = {name: self.text(one["value"], contexts) for name, one in action.get("outputs", {}).items()}
        return whole

    def job(self, job: Mapping[str, Any], actions: Mapping[str, Callable[[Mapping[str, str]], Played]]) -> Played:
        """Play a job of a workflow.

        Args:
            job: its `steps` are played.
            actions: what plays the actions that it uses, by their address; it gets their inputs.
        """
        return self._steps(job["steps"], {"steps": {}}, {}, actions)

    def _steps(
        self,
        steps: Sequence[Mapping[str, Any]],
        contexts: dict[str, Any],
        environment: Mapping[str, str],
        actions: Mapping[str, Callable[[Mapping[str, str]], Played]] = MappingProxyType({}),
    ) -> Played:
        whole = Played()
        for step in steps:
            if not self.holds(step.get("if", "success()"), contexts, failed=whole.code != 0):
                continue
            if "uses" in step:
                given = {name: self.text(value, contexts) for name, value in step.get("with", {}).items()}
                played = actions[step["uses"]](given)
            else:
                played = self.step(step, contexts, environment)
            contexts["steps"][step.get("id", "")] = {"outputs": played.outputs}
            whole.code = whole.code or played.code
            whole.summary += played.summary
            whole.log += played.log
            whole.commands += played.commands
            whole.ran.append(step.get("name", step.get("uses", "run")))
        return whole

    def step(self, step: Mapping[str, Any], contexts: Mapping[str, Any], environment: Mapping[str, str]) -> Played:
        """Play a `run` step; its script is taken as it stands."""
        if _EXPRESSION.search(step["run"]):
            raise ValueError(f"an expression in a script: what it gives would be part of the program\n{step['run']}")
        self._files += 1
        folder = self._temporary / f"step{self._files}"
        folder.mkdir()
        script = folder / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary"}
        for file in files.values():
            file.touch()
        told = {name: self.text(str(value), contexts) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self._workspace,
            env={**self._environment, **environment, **told, **{name: str(file) for name, file in files.items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Played(
            done.returncode,
            dict(_outputs(files["GITHUB_OUTPUT"].read_text(encoding="utf-8"))),
            files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"),
            done.stdout,
            list(_commands(done.stdout)),
        )

    def text(self, value: str, contexts: Mapping[str, Any]) -> str:
        """A value with its expressions replaced."""
        return _EXPRESSION.sub(lambda found: self._value(found[1], contexts), value)

    def holds(self, condition: str, contexts: Mapping[str, Any], *, failed: bool) -> bool:
        """Whether a condition does: `always()`, or one text compared with another, and nothing has failed before."""
        if condition == "always()":
            return True
        left, _, right = condition.partition(" == ")
        return not failed and (left == "success()" or self._value(left, contexts) == self._value(right, contexts))

    def _value(self, expression: str, contexts: Mapping[str, Any]) -> str:
        if quoted := re.fullmatch(r"'([^']*)'", expression):
            return quoted[1]
        found: Any = {**self._contexts, **contexts}
        for name in expression.split("."):
            found = found.get(name, {})
        return found if isinstance(found, str) else ""


def _outputs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"no output: {line}")
        yield name, value


def _commands(log: str) -> Iterator[tuple[str, str, str]]:
    """Commands among the lines of a log, but for those between `stop-commands` and its own word."""
    resume = None
    for line in log.splitlines():
        found = _COMMAND.fullmatch(line.strip())
        if resume is not None:
            resume = None if line.strip() == f"::{resume}::" else resume
        elif found and found[1] == "stop-commands":
            resume = found[3]
        elif found:
            yield found[1], found[2] or "", found[3]


def main(folder: str, *inputs: str) -> int:
    """Play an action here, and show what the runner was told."""
    with tempfile.TemporaryDirectory() as name:
        runner = Runner(Path.cwd(), Path(name), os.environ, github={"token": ""})
        played = runner.action(Path(folder).resolve(), dict(one.split("=", 1) for one in inputs))
    print(played.log, played.summary, json.dumps(played.outputs, indent=2), sep="\n")
    return played.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
