"""The command line. Thin: it parses, calls, prints. Heavy imports wait inside the commands, so `--help` is quick."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from saddlescope.errors import InvalidInput

app = typer.Typer(
    name="saddlescope",
    help="A laboratory for the stages of neural-network learning.\n\nExamples:\n\n"
    "  saddlescope list\n\n  saddlescope run simplicity.fig1b --quick\n\n"
    "  saddlescope train f3_N768_bs8_L2 --rank 10\n\n  saddlescope stages loss.csv --column loss\n\n"
    "  saddlescope sweep sweep.toml --workers 2",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)
OUT = "saddlescope-results"
Out = Annotated[Path, typer.Option(help="Folder for the results, one folder an experiment.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Axis = Annotated[list[str] | None, typer.Option(help="Replace an axis: `target=diagonal`, `seed=0..4`, `lr=0.1,0.01`.")]


def show_version(wanted: bool):
    if wanted:
        from importlib.metadata import version

        print(f"saddlescope {version('saddlescope')}")
        raise typer.Exit()


@app.callback()
def main_options(
    _: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
):
    pass


def main():
    """Entry point: bad input is one sentence on standard error and exit status 2, never a traceback."""
    try:
        status = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.TyperException as error:
        fail(f"{error.format_message().rstrip('.')}; `saddlescope --help` shows what can be given.", 2)
    except InvalidInput as error:
        fail(str(error), 2)
    except OSError as error:
        where = f" at {error.filename}" if error.filename else ""
        fail(f"{error.strerror or error}{where}: check that it is there, and may be read and written.", 2)
    except MemoryError as error:
        fail(f"this does not fit into memory ({error}); use a smaller width, depth or number of samples.", 2)
    if status == 130:  # Ctrl-C
        fail("stopped; what was finished is kept.", 130)
    sys.exit(status)


def fail(sentence, status) -> NoReturn:
    print(f"saddlescope: {sentence}", file=sys.stderr)
    sys.exit(status)
