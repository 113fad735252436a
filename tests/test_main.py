"""The table of commands is true, and asking for help costs nothing."""

import subprocess
import sys

import click
import pytest

from readahead.__main__ import COMMANDS, main, run


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_is_there_and_documented(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None and command.name == name and command.help


def test_help_lists_every_command_and_imports_none() -> None:
    code = (
        "import sys; from readahead.__main__ import run; run(['--help']);"
        "print([m for m in sys.modules if 'readahead.commands.' in m])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.rstrip().endswith("[]")
    assert all(name in said and sentence in said for name, sentence in COMMANDS.items())


def test_a_command_that_is_none_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["fly"]) == 2
    assert "No such command 'fly'" in capsys.readouterr().err


@click.command()
def odd() -> None:
    """Do what no command should."""
    raise PermissionError(13, "Permission denied", "/srv/locked")


@click.command()
@click.pass_context
def unhappy(context: click.Context) -> None:
    """End with an exit code of its own."""
    context.exit(3)


@pytest.mark.parametrize(("command", "code"), [(odd, 1), (unhappy, 3)])
def test_every_end_has_its_exit_code_and_no_traceback(
    command: click.Command, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([], command) == code
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert code == 3 or said.startswith("Error: /srv/locked: Permission denied")
