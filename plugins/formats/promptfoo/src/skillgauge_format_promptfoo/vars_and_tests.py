"""The tests of a configuration, wherever they are written, with their variables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillgauge_assertions import Node, Reading, Vars, variables, written_tests

from .keys import CONVERSATION, OPTIONS, TEST
from .users import user_node

MOST_CASES = 10_000


@dataclass(frozen=True)
class Test:
    """One test, with what it has from `defaultTest`."""

    node: Node
    vars: Mapping[str, Node]
    assertions: tuple[Node, ...]
    threshold: Node | None
    options: Mapping[str, Node]
    conversation: str = ""
    """Name of the conversation that it is a turn of."""
    user: Node | None = None
    """The provider that plays the user."""

    def says(self, option: str) -> bool:
        """Tell whether an option is set."""
        return option in self.options and self.options[option].value is True

    def text(self, option: str) -> str:
        """An option that is a text."""
        value = self.options[option].value if option in self.options else ""
        return value if isinstance(value, str) else ""

    def combinations(self) -> Iterator[Vars]:
        """Every combination of the values of lists, the last variable first to change."""
        lists = [
            value.value if isinstance(value.value, tuple) and not self.says("disableVarExpansion") else (value.value,)
            for value in self.vars.values()
        ]
        for values in itertools.product(*lists):
            yield dict(zip(self.vars, values, strict=True))

    @property
    def size(self) -> int:
        """The number of combinations."""
        size = 1
        for value in self.vars.values():
            if isinstance(value.value, tuple) and not self.says("disableVarExpansion"):
                size *= len(value.value)
        return size


def tests_of(reading: Reading, config: Node) -> tuple[Test, ...]:
    """Every test with the defaults in it; without tests one that has nothing but them."""
    node, default = config.at("tests"), config.at("defaultTest")
    if isinstance(default.value, str):
        default = reading.document(default, default.value)
    base = _test(reading, default, None) if default.value is not None else None
    tests = [_test(reading, one, base) for one in written_tests(reading, node)]
    if node.value is None:
        tests = [base] if base is not None else [Test(node, {}, (), None, {})]
    read = tuple(one for one in tests if one is not None)
    if not read and not reading.problems:
        reading.refuse(config, "there is no test", code="suite.value")
    return read


def _test(reading: Reading, node: Node, base: Test | None) -> Test | None:
    if not reading.only(node, TEST, "a test"):
        return None
    options = node.at("options")
    if options.value is not None and not reading.only(options, OPTIONS, "options"):
        return None
    listed = node.at("assert")
    if listed.value is not None and not isinstance(listed.value, tuple):
        reading.refuse(listed, "assert is a list of assertions", code="suite.wrong-type")
        return None
    own = {key: options.at(key) for key in options.names()}
    is_bare = own.get("disableDefaultAsserts", Node(None, node.origin)).value is True
    inherited = base.assertions if base is not None and not is_bare else ()
    return Test(
        node=node,
        vars={**(base.vars if base else {}), **variables(reading, node.at("vars"))},
        assertions=(*inherited, *listed.items()),
        threshold=node.at("threshold") if node.has("threshold") else base.threshold if base else None,
        options={**(base.options if base else {}), **own},
        user=_user(reading, node, base),
        conversation=_conversation(node) or (base.conversation if base else ""),
    )


def _user(reading: Reading, node: Node, base: Test | None) -> Node | None:
    return user_node(reading, node) or (base.user if base is not None else None)


def _conversation(node: Node) -> str:
    name = node.at("metadata").at(CONVERSATION).value
    return str(name) if isinstance(name, str | int) and not isinstance(name, bool) else ""
