"""The command on data of anyone's: in which directions a deep ReLU net leaves the origin."""

from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import app
from saddlescope.errors import require

SUFFIXES = (".png", ".pdf", ".svg")
Data = Annotated[Path, typer.Argument(metavar="FILE", help="Data: a .npz, .npy or .csv file.")]
Depth = Annotated[int, typer.Option(help="Number of layers, 2 or more.")]
Width = Annotated[int, typer.Option(help="Neurons per hidden layer.")]
Restarts = Annotated[int, typer.Option(help="Number of random starts.")]
Seed = Annotated[int, typer.Option(help="Random seed of the starts.")]
Loss = Annotated[str, typer.Option(help="Loss: squared or cross-entropy; unused where there is G.")]
Std = Annotated[float | None, typer.Option(help="Standard deviation of initial weights.")]
Rate = Annotated[float | None, typer.Option("--lr", help="Learning rate of the run.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Figure = Annotated[Path | None, typer.Option(help="Draw into this .png, .pdf or .svg file.")]


@app.command()
def escape(
    file: Data,
    depth: Depth = 3,
    width: Width = 16,
    restarts: Restarts = 200,
    seed: Seed = 0,
    loss: Loss = "squared",
    std: Std = None,
    lr: Rate = None,
    as_json: Json = False,
    figure: Figure = None,
):
    """Find the directions in which a bias-free ReLU net leaves the origin.

    The file has one row per point. A .npz has X, and y or G; a .npy or .csv has the inputs and
    then y. G is the gradient of the loss at zero output; columns of a .csv called G, G1, … hold
    it. With --std and --lr the step of the escape is predicted.

    Examples:

      saddlescope escape data.npz --depth 4 --width 32

      saddlescope escape iris.csv --loss cross-entropy --figure escape.png

      saddlescope escape data.npz --std 0.01 --lr 0.1 --json
    """
    kind = figure is None or figure.suffix.lower() in SUFFIXES
    require(kind, f"A figure is .png, .pdf or .svg, got {figure.name if figure else ''!r}.")
    from saddlescope.workflows.escape_data import read_escape_data
    from saddlescope.workflows.search_escape import search_escape

    found = search_escape(read_escape_data(file, loss), depth, width, restarts, seed, std, lr)
    _show(found, as_json)
    if figure:
        from saddlescope.figures.escape import draw_directions

        draw_directions(figure, found.found)
        if not as_json:
            print(f"figure: {figure}")


def _show(found, as_json):
    import json

    print(json.dumps(found.as_json(), indent=1, ensure_ascii=False) if as_json else found)
