"""A hundred ways to spoil a package, each reproducible from its number."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

Mutation = Callable[[random.Random, Path], None]

_TESTS = ("skills/word-count/tests/cases/*.yaml", "hooks/tests/cases/0[123]*.yaml")
_EVALS = ("evals/cases/*.yaml",)
_CONFIGS = ("skills/word-count/tests/test-config.json", "hooks/tests/test-config.json", "evals/eval-config.json")


def _file(random_: random.Random, package: Path, *globs: str) -> Path:
    return random_.choice(sorted(path for glob in globs for path in package.glob(glob)))


def _replace(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text(), count=1, flags=re.MULTILINE)
    assert count, f"{pattern} is not in {path.name}"
    path.write_text(text)


def misspelt_key(random_: random.Random, package: Path) -> None:
    """A key below `input`, `expected` or `judge` with letters swapped."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    keys = [
        key for key in ("command", "fixture", "prompt", "criteria") if re.search(rf"(?<![\w.]){key}:", path.read_text())
    ]
    key = random_.choice(keys)
    at = random_.randrange(1, len(key) - 1)
    _replace(path, rf"(?<![\w.]){key}:", f"{key[:at]}x{key[at:]}:")


def swapped_type(random_: random.Random, package: Path) -> None:
    """A list or a number where a name has to be."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    _replace(path, r"^name: .*$", f"name: {random_.choice(['[a, b]', '12', 'true', '{a: 1}', 'null'])}")


def wrong_configuration(random_: random.Random, package: Path) -> None:
    """A version, a limit or an environment that is none."""
    path = _file(random_, package, *_CONFIGS)
    document = json.loads(path.read_text())
    wrong = [("version", 2), ("version", "1"), ("version", True), ("timeout", 0), ("timeout", "30"), ("env", {"A": 1})]
    key, value = random_.choice([*wrong, ("env", ["A"]), ("tiemout", 30), ("timeout", -1)])
    path.write_text(json.dumps({**document, key: value}, indent=1))


def escaping_path(random_: random.Random, package: Path) -> None:
    """A path that leaves its folder."""
    away = random_.choice(["../../../etc/passwd", "/etc/passwd", "a/../../b", "C:/x", "a\\\\\\\\b"])
    name, pattern, new = random_.choice(
        [
            ("skills/word-count/tests/cases/01-file.yaml", r"files: \[.*\]", f'files: ["{away}"]'),
            ("hooks/tests/cases/02-allowed.yaml", r"fixture: \S+", f'fixture: "{away}"'),
            ("evals/cases/01-count.yaml", r"^  files: \[.*\]", f'  files: ["{away}"]'),
            ("evals/cases/01-count.yaml", r"workspace-files: \[.*\]", f'workspace-files: ["{away}"]'),
            ("evals/cases/01-count.yaml", r"files-created: \[.*\]", f'files-created: ["{away}"]'),
            ("evals/eval-config.json", r'"writable-paths": \[.*?\]', f'"writable-paths": ["{away}"]'),
            ("package.agent.json", r'"name"', f'"hooks": "{away}", "name"'),
        ]
    )
    _replace(package / name, pattern, new)


def link_out(random_: random.Random, package: Path) -> None:
    """A link that leads out of the package, used or not."""
    used = [
        "skills/word-count/tests/fixtures/poem.txt",
        "hooks/tests/fixtures/write.json",
        "evals/fixtures/proverb.txt",
    ]
    path = package / random_.choice([*used, "skills/word-count/assets"])
    path.unlink(missing_ok=True)
    path.symlink_to(package.parent if path.name == "assets" else Path("/etc/hostname"))


def doubled_name(random_: random.Random, package: Path) -> None:
    """Two cases of a suite with one name."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    path.with_name(f"{random_.randrange(1000)}-copy.yaml").write_text(path.read_text())


def doubled_key(random_: random.Random, package: Path) -> None:
    """A key that is there twice."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    path.write_text(f"{path.read_text()}\nname: again\n")


def huge_file(random_: random.Random, package: Path) -> None:
    """A case of seventy megabytes."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    path.write_text(f"{path.read_text()}\n# {'x' * 70_000_000}\n")


def alias_bomb(random_: random.Random, package: Path) -> None:
    """Aliases that stand for a billion values."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    path.write_text("\n".join([path.read_text(), *lines]))


def cycle(random_: random.Random, package: Path) -> None:
    """An alias that stands for what contains it."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    path.write_text(f"{path.read_text()}\nround: &round [*round]\n")


def cut_off(random_: random.Random, package: Path) -> None:
    """Half of a JSON file."""
    path = _file(random_, package, *_CONFIGS, "package.agent.json", "hooks/hooks.json")
    text = path.read_text().strip()
    path.write_text(text[: random_.randrange(1, len(text) - 1)])


def odd_bytes(random_: random.Random, package: Path) -> None:
    """No text, or text that no document may hold."""
    path = _file(random_, package, *_TESTS, *_EVALS, *_CONFIGS)
    content = path.read_bytes()
    at = random_.randrange(len(content))
    path.write_bytes(content[:at] + random_.choice([b"\xff\xfe", b"\x00", b"\xc3\x28"]) + content[at:])


def missing_key(random_: random.Random, package: Path) -> None:
    """A required key that is not there."""
    name, pattern = random_.choice(
        [
            ("skills/word-count/tests/cases/03-missing.yaml", r"^name: .*\n"),
            ("skills/word-count/tests/cases/03-missing.yaml", r"^  command: .*\n"),
            ("hooks/tests/cases/01-refused.yaml", r"^event: .*\n"),
            ("evals/cases/01-count.yaml", r"^  prompt: .*\n"),
            ("evals/cases/05-untargeted.yaml", r"^judge: .*\n"),
            ("evals/eval-config.json", r'^  "engine": .*\n'),
            ("package.agent.json", r'^  "version": .*\n'),
            ("package.agent.json", r'^  "name": .*\n'),
        ]
    )
    _replace(package / name, pattern, "")


def nothing_there(random_: random.Random, package: Path) -> None:
    """A reference to something that the package does not have."""
    name, pattern, new = random_.choice(
        [
            ("hooks/tests/cases/03-shell.yaml", r"hook-index: 1", f"hook-index: {random_.randrange(2, 99)}"),
            ("hooks/tests/cases/02-allowed.yaml", r"event: .*", "event: session-end"),
            ("hooks/tests/cases/02-allowed.yaml", r"event: .*", "event: no-such-event"),
            ("hooks/tests/cases/02-allowed.yaml", r"fixtures/write.json", "fixtures/gone.json"),
            ("skills/word-count/tests/cases/01-file.yaml", r"files: \[.*\]", "files: [tests/fixtures/gone.txt]"),
            ("evals/cases/01-count.yaml", r"target: .*", "target: skill:gone"),
            ("evals/cases/01-count.yaml", r"target: .*", "target: rule:plain"),
            ("evals/cases/02-refused.yaml", r"target: .*", "target: hook:session-end"),
            ("evals/cases/04-audit.yaml", r"target: .*", "target: agent:gone"),
            ("evals/cases/04-audit.yaml", r"fixtures/proverb.txt\]", "fixtures/gone.txt]"),
        ]
    )
    _replace(package / name, pattern, new)


def wrong_manifest(random_: random.Random, package: Path) -> None:
    """A manifest that says what cannot be."""
    path = package / "package.agent.json"
    document = json.loads(path.read_text())
    key, value = random_.choice(
        [
            ("name", "No Spaces"),
            ("name", ["a"]),
            ("version", "1.0"),
            ("version", "01.0.0"),
            ("artifacts", {"skills": [{"name": "gone", "path": "skills/gone"}]}),
            ("artifacts", {"skills": [{"name": "word-count", "path": "../word-count"}]}),
            ("permissions", {"fs": {"write": ["/etc/**"]}}),
            ("permissions", {"network": {"schemes": ["gopher"]}}),
            ("env", {"A": {"required": True}}),
            ("quality", {"tests": [{"name": "no command"}]}),
            ("x-sample", "no object"),
            ("hooks", "./hooks/gone.json"),
        ]
    )
    path.write_text(json.dumps({**document, key: value}, indent=1))


def deep_nesting(random_: random.Random, package: Path) -> None:
    """More levels than anything needs."""
    path = _file(random_, package, *_TESTS, *_EVALS)
    depth = random_.randrange(150, 5_000)
    path.write_text(f"{path.read_text()}\ndeep: {'[' * depth}{']' * depth}\n")


MUTATIONS: tuple[Mutation, ...] = (
    misspelt_key,
    swapped_type,
    wrong_configuration,
    escaping_path,
    link_out,
    doubled_name,
    doubled_key,
    huge_file,
    alias_bomb,
    cycle,
    cut_off,
    odd_bytes,
    missing_key,
    nothing_there,
    wrong_manifest,
    deep_nesting,
)
COUNT = 100


def spoil(number: int, package: Path) -> str:
    """Spoil a package in the way of this number; what was done."""
    random_ = random.Random(number)
    mutation = MUTATIONS[number % len(MUTATIONS)]
    mutation(random_, package)
    return f"{number} {mutation.__name__}"
