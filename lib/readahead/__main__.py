"""The command line: `python -m readahead COMMAND`.

Each command is a function in a file of `readahead.commands` and a row of the table below. The file is imported only
when the command is called for, so that `--help` answers at once and `lab` does not wait for DuckDB.
"""

from __future__ import annotations

import importlib
import io
import sys

import click

from readahead import __version__
from readahead.errors import Cancelled, ReadaheadError, printable

COMMANDS = {
    "advise": "Look at a file of yours and say what to change.",
    "book": "Write the chapters as pages that need no kernel.",
    "calibrate": "Measure this machine: its disk, and what DuckDB itself takes.",
    "doctor": "Check a laptop before a workshop.",
    "lab": "Open the workbook in JupyterLab.",
    "progress": "Show your progress, export it, or begin anew.",
    "run": "Run a notebook from end to end, with parameters.",
    "sheet": "Run the whole workbook with a set of parameters.",
}
"""Name of the command (a function in the file of that name in `commands/`) and what `--help` says of it."""


class Commands(click.Group):
    """A group that knows its commands by the table and imports one when it is called for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, in order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None for a name that is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"readahead.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="readahead")
def main() -> None:
    """Readahead: a workbook that teaches how storage I/O decides the throughput of a database."""


def run(
    arguments: list[str] | None = None, command: click.Command = main, name: str = "python -m readahead"
) -> int:
    """Run one command and return its exit code: 0 well, 1 an error in words, 2 a wrong call, 130 cancelled."""
    for stream in (sys.stdout, sys.stderr):  # Windows: a file or a pipe takes the letters of one country only
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="namereplace")
    try:
        code = command.main(args=arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt, Cancelled):
        click.echo("Cancelled. Nothing half-done is kept.", err=True)
        return 130
    except ReadaheadError as error:
        click.echo("\n".join(map(printable, f"Error: {error}".split("\n"))), err=True)
        return 1
    except OSError as error:
        place = f"{printable(str(error.filename))}: " if error.filename else ""
        click.echo(
            f"Error: {place}{error.strerror or error}. Give a place that you may read and write.", err=True
        )
        return 1
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(run())
