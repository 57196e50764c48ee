"""The help of every verb has examples, and they are calls that the verb would take."""

import re
import shlex

import click
import pytest

from benchfw.cli import cli


def commands(group, path=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield pytest.param(command, id=" ".join((*path, name)))
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def examples_of(command):
    """Return the calls in a command's help, without what a shell makes of them and the remark after them."""
    _, _, below = (command.help or "").partition("Examples:\n")
    lines = [line for line in below.partition("\n\n")[0].splitlines() if line.strip()]
    return [re.split(r" [|>]|  +", line.strip().partition("benchfw ")[2])[0] for line in lines]


@pytest.mark.parametrize("command", list(commands(cli)))
def test_the_help_of_a_verb_has_examples_that_it_would_take(command):
    examples = examples_of(command)
    assert examples
    for example in examples:
        group, words = cli, shlex.split(example)
        while isinstance(group, click.Group):
            group, words = group.get_command(click.Context(group), words[0]), words[1:]
        group.make_context(group.name, words)
