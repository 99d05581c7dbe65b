"""The command on data of anyone's: in which directions a deep ReLU net leaves the origin."""

import sys
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
Loss = Annotated[str | None, typer.Option(help="Loss: squared (default) or cross-entropy; not with G.")]
Std = Annotated[float | None, typer.Option(help="Standard deviation of initial weights.")]
Rate = Annotated[float | None, typer.Option("--lr", help="Learning rate of the run.")]
Hours = Annotated[float, typer.Option(help="Largest time of the search that is allowed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Figure = Annotated[Path | None, typer.Option(help="Draw into this .png, .pdf or .svg file.")]
Page = Annotated[Path | None, typer.Option(help="Write a page into this .html file.")]


@app.command()
def escape(
    file: Data,
    depth: Depth = 3,
    width: Width = 16,
    restarts: Restarts = 200,
    seed: Seed = 0,
    loss: Loss = None,
    std: Std = None,
    lr: Rate = None,
    hours: Hours = 1.0,
    as_json: Json = False,
    figure: Figure = None,
    page: Page = None,
):
    """Find the directions in which a bias-free ReLU net leaves the origin.

    The file has one row per point. A .npz has X, and y or G; a .npy or .csv has the inputs and
    then y. G is the gradient of the loss at zero output; columns of a .csv called G, G1, … hold
    it. With --std and --lr the step of the escape is predicted.

    "Certified" means that no net of this depth is faster, whatever its width. A residual with a
    star is necessary, not sufficient, for a stationary point.

    Examples:

      saddlescope escape data.npz --depth 4 --width 32

      saddlescope escape iris.csv --loss cross-entropy --figure escape.png

      saddlescope escape data.npz --std 0.01 --lr 0.1 --page escape.html
    """
    kind = figure is None or figure.suffix.lower() in SUFFIXES
    require(kind, f"A figure is .png, .pdf or .svg, got {figure.name if figure else ''!r}.")
    require(page is None or page.suffix.lower() == ".html", f"A page is .html, got {page and page.name!r}.")
    from saddlescope.workflows.escape_data import read_escape_data
    from saddlescope.workflows.search_escape import check_time, search_escape

    data = read_escape_data(file, loss)
    said = check_time(data, depth, width, restarts, hours, seed)
    if said:
        print(f"searching: {said}", file=sys.stderr)
    found = search_escape(data, depth, width, restarts, seed, std, lr)
    _show(found, as_json)
    for name, path in (("figure", figure), ("page", page)):
        if path:
            _write(name, path, found, file)
            print(f"{name}: {path}", file=sys.stderr if as_json else sys.stdout)


def _show(found, as_json):
    import json

    print(json.dumps(found.as_json(), indent=1, ensure_ascii=False) if as_json else found)


def _write(name, path, found, file):
    from saddlescope.figures.escape import figure_of_directions
    from saddlescope.storage.files import write_bytes

    if name == "figure":
        write_bytes(path, figure_of_directions(found.found, path.suffix[1:].lower()))
        return
    from saddlescope.workflows.escape_page import page_of_escape

    write_bytes(path, page_of_escape(found, file).encode())
