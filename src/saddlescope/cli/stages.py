"""The command on a loss curve of anyone's: stages."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from saddlescope.cli.app import app, fail
from saddlescope.errors import require

STOPPED = 130  # the status after Ctrl-C
SUFFIXES = (".png", ".pdf", ".svg")


LOG = "FILE|FOLDER|-"
Logs = Annotated[list[str], typer.Argument(metavar=LOG, help="A log; `-` is standard input.")]
Column = Annotated[str | None, typer.Option(help="Which column; `loss[3]` takes row 3.")]
Time = Annotated[str | None, typer.Option(help="Which column is the time.")]
LogTime = Annotated[bool, typer.Option("--log-time", help="Measure rates per unit of log time.")]
Up = Annotated[bool, typer.Option("--up", help="The curve rises, as an accuracy does.")]
SMOOTH = "Smoothing width in points. Noise is then not looked for."
Smooth = Annotated[float | None, typer.Option(help=SMOOTH)]
Prominence = Annotated[float, typer.Option(help="Factor by which a drop's rate stands out.")]
MinFall = Annotated[float, typer.Option(help="Least fall of a drop, as a share of its level.")]
Compare = Annotated[bool, typer.Option("--compare", help="Several logs, in one table and figure.")]
FOLLOW = "Read a growing log until Ctrl-C. Wait for one that is not there yet."
Follow = Annotated[bool, typer.Option("--follow", help=FOLLOW)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Figure = Annotated[Path | None, typer.Option(help="Draw into this .png, .pdf or .svg file.")]


@app.command()
def stages(
    logs: Logs,
    column: Column = None,
    time: Time = None,
    log_time: LogTime = False,
    up: Up = False,
    smooth: Smooth = None,
    prominence: Prominence = 5.0,
    min_fall: MinFall = 0.05,
    compare: Compare = False,
    follow: Follow = False,
    as_json: Json = False,
    figure: Figure = None,
):
    """Find the plateaus and drops of any loss curve.

    Reads CSV, JSON, JSON lines, plain text, NPZ, NetCDF and the logs of TensorBoard, W&B,
    Lightning, Hugging Face, mlflow and trackio, also compressed by gzip. Without --column it takes
    the training loss with the most points, and says so.

    Examples:

      saddlescope stages loss.csv --figure stages.png

      saddlescope stages lightning_logs/version_0 --time epoch --log-time

      saddlescope stages --compare run1 run2 --figure both.pdf

      saddlescope stages train.log --follow

      zcat train.jsonl.gz | saddlescope stages - --column accuracy --up --json

      saddlescope stages saddlescope-results/simplicity.fig1b --column "loss[3]"
    """
    _check(logs, compare, follow, figure)
    from saddlescope.cli.stages_follow import follow_log
    from saddlescope.cli.stages_output import analyse, draw, show
    from saddlescope.stages import find_stages

    options: dict[str, Any] = dict(smooth=smooth, prominence=prominence, min_fall=min_fall)
    options |= {"log_time": log_time}
    find_stages([1.0], **options)  # refuses bad options before anything is read or waited for
    read = partial(analyse, column=column, time=time, up=up, **options)
    try:
        if follow:
            follow_log(logs[0], read, as_json, figure)
        found = [read(log) for log in logs]
        show(found, compare, as_json)
        if figure:
            draw(found, figure, quiet=as_json)
    except KeyboardInterrupt:
        said = f"stopped following {logs[0]}." if follow else "stopped before the end."
        fail(said, STOPPED)


def _check(logs, compare, follow, figure):
    """Refuse what cannot be done before anything is read."""
    for log in logs:
        require(log, "There is no file '': give a log with a loss curve.")
    one = len(logs) == 1
    require(compare or one, f"Got {len(logs)} logs: add --compare to see them in one table.")
    require(not compare or not one, "--compare needs at least two logs, got one.")
    require(logs.count("-") < 2, "Standard input can be read only once: give `-` once.")
    single = not compare and "-" not in logs
    require(not follow or single, "--follow reads one file or folder: leave out --compare and `-`.")
    kind = figure is None or figure.suffix.lower() in SUFFIXES
    require(kind, f"A figure is .png, .pdf or .svg, got {figure.name if figure else ''!r}.")
