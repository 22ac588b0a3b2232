"""The table of the options of `eval`, and everything that is derived from it."""

from __future__ import annotations

from dataclasses import fields

import click
import pytest

import skillgauge
from skillgauge.cli.eval_command import command
from skillgauge.cli.evaluation_options import SECTIONS, click_option, evaluation_options, foresight_options
from skillgauge.config.arguments import configured, declared, flags_asking_gates
from skillgauge.config.configuration import KEYS
from skillgauge.config.option import Group, Option
from skillgauge.decide.decision import GateOptions
from skillgauge.decide.pair_gates import PairDemands
from skillgauge.plan.options import How, What, Who

TABLE = [pytest.param(option, id=option.value_name) for option in declared()]
OF_PYTHON_ALONE = {"config", "trust_config", "no_plugin", "options", "suites", "min_lift"}
"""Settings that are options of every command or of plugins, and the plainer name of one option."""


@pytest.mark.parametrize("option", TABLE)
def test_an_option_is_derived(option: Option) -> None:
    """Click knows it by its name, with its spellings and its help, and help shows it under one title."""
    parameter = click_option(option)
    assert (parameter.name, parameter.help, parameter.multiple) == (
        option.value_name,
        option.help,
        option.several or parameter.multiple,
    )
    spellings = {word for flag in option.flags.split() for word in flag.split("/")}
    assert {*parameter.opts, *parameter.secondary_opts} == spellings
    assert sum(option.value_name in names for names in SECTIONS.values()) == 1
    assert not option.key or option.key in KEYS
    of_parts = {
        f"{part}.{field.name}"
        for part, values in (("how", How), ("who", Who), ("what", What))
        for field in fields(values)
    }
    of_gates = {f"gates.{name}" for name in GateOptions.model_fields} | {
        f"pairs.{name}" for name in PairDemands.model_fields
    }
    assert not option.field or option.field in of_parts | of_gates


def test_commands_have_the_options_of_the_table() -> None:
    """`eval` all of them, and other commands those of everything that evaluates."""
    names = [option.value_name for option in declared()]
    assert len(names) == len(set(names))
    of_eval = [str(parameter.name) for parameter in command.params if isinstance(parameter, click.Option)]
    assert of_eval[: len(names)] == names
    assert [parameter.name for parameter in evaluation_options()] == [
        option.value_name for option in declared(Group.EVALUATING)
    ]


def test_settings_of_python_are_those_of_the_table() -> None:
    """A new option is a setting, unless it is about reports or a terminal."""
    settings = {option.value_name for option in declared() if option.is_setting}
    assert set(skillgauge.Settings.__annotations__) == settings | OF_PYTHON_ALONE


def test_what_of_the_options_is_configuration() -> None:
    """Values that are set, by the key of each."""
    values = {"runs": 3, "output_dir": "out", "seed": None, "fresh": True, "store": "none"}
    assert configured(values) == {"runs": 3, "outputDir": "out", "store": "none"}


def test_validate_has_the_options_of_gates_that_can_be_foreseen() -> None:
    """And of their runs; each of them asks for a gate, or refines one that another of them asks for."""
    names = [option.value_name for option in declared() if option.is_foreseen]
    assert [parameter.name for parameter in foresight_options()] == names
    assert {"gate", "min_delta_pts"} <= set(names)


def test_options_that_ask_for_a_gate_are_named() -> None:
    """By their flags; a value that only refines a gate asks for none, and neither does one that is not given."""
    assert flags_asking_gates({"gate": ("better",), "margin": 5.0, "exit_on_fail": False}) == ["--gate"]
    assert flags_asking_gates({"min_delta_pts": 0.0}) == ["--min-delta-pts"]
    assert flags_asking_gates({}) == []
