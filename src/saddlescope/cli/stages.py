"""The command on a loss curve of anyone's: stages."""

from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import app
from saddlescope.errors import require


@app.command()
def stages(
    file: Annotated[Path, typer.Argument(help="A curve: CSV, NPZ or NetCDF.")],
    column: Annotated[str | None, typer.Option(help="Which column or variable; `loss[3]` takes row 3.")] = None,
    time: Annotated[str | None, typer.Option(help="Which column or variable is time.")] = None,
    log_time: Annotated[bool, typer.Option("--log-time", help="Measure rates per unit of log time.")] = False,
    smooth: Annotated[float | None, typer.Option(help="Smoothing width in points, instead of the automatic.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Where to draw [default: FILE.stages.png].")] = None,
):
    """Find the plateaus and drops of any loss curve.

    The table is printed, and a figure written.

    Examples:

      saddlescope stages loss.csv

      saddlescope stages log.csv --column train_loss --time epoch --log-time

      saddlescope stages saddlescope-results/simplicity.fig1b --column "loss[3]"
    """
    place = file if file.name else file.absolute()  # "" and "." have no name
    require(place.name, "The folder / holds no curve: give a CSV, NPZ or NetCDF file.")
    path = figure or place.with_name(place.name + ".stages.png")
    kinds = (".png", ".pdf", ".svg")
    require(path.suffix.lower() in kinds, f"A figure is .png, .pdf or .svg, got {path.name!r}.")
    from saddlescope.figures.curve import draw_curve
    from saddlescope.stages import find_stages
    from saddlescope.stages.read_curve import read_curve
    from saddlescope.storage.result_folder import check_file

    if file.is_dir():
        file = file / "results.nc"
    if file.is_file():
        check_file(file)
    times, loss, name = read_curve(file, column, time)
    found = find_stages(loss, times, log_time=log_time, smooth=smooth)
    print(f"{name} of {file}", found, sep="\n")
    draw_curve(path, found, loss, times, name, log_time)
    print(f"figure: {path}")
