"""The command line is thin: it parses, calls, prints. Heavy imports wait inside the commands: `--help` is quick."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

app = typer.Typer(
    name="saddlescope",
    help="A laboratory for the stages of neural-network learning.\n\nExamples:\n\n"
    "  saddlescope list\n\n  saddlescope run simplicity.fig1b --quick\n\n"
    "  saddlescope train f3_N768_bs8_L2 --rank 10\n\n  saddlescope stages loss.csv --column loss\n\n"
    "  saddlescope escape data.npz --depth 4\n\n  saddlescope meanfield points.csv --rank 2\n\n"
    "  saddlescope sweep sweep.toml --workers 2",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
OUT = "saddlescope-results"
Out = Annotated[Path, typer.Option(help="Folder for the results, one folder per experiment.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Import = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="FILE|MODULE", help="Import code of your own first: my_nets.py. Repeatable."),
]
Axis = Annotated[list[str] | None, typer.Option(help="Replace an axis: `target=diagonal`, `seed=0..4`, `lr=0.1,0.01`.")]


def _show_version(wanted: bool):
    if wanted:
        from importlib.metadata import version

        print(f"saddlescope {version('saddlescope')}")
        raise typer.Exit()


@app.callback()
def main_options(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
):
    pass


def import_all(names: list[str] | None):
    """`--import`: the user's own nets, tasks and functions, known before anything stored is read."""
    if names:
        from saddlescope.serialization.own_code import import_own

        for name in names:
            import_own(name)


class Ending(SystemExit):
    """The end of a command that says a sentence. As a SystemExit it passes through every `except Exception`."""

    def __init__(self, sentence, status):
        super().__init__(status)
        self.sentence, self.status = sentence, status


def fail(sentence, status) -> NoReturn:
    """End the command: `main` says the sentence and exits with this status."""
    raise Ending(sentence, status)
