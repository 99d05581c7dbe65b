"""The command on the limit of infinite width: how a low-rank random-feature net learns points of anyone's."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import app
from saddlescope.errors import InvalidInput, require

SUFFIXES = (".png", ".pdf", ".svg")
What = Annotated[str, typer.Argument(metavar="POINTS", help="A .csv, .npy or .npz file, or the name of a run.")]
Rank = Annotated[int, typer.Option(help="Channels per bottleneck.")]
Depth = Annotated[int, typer.Option(help="Number of bottlenecks; 0 is random features alone.")]
Activation = Annotated[str, typer.Option(help="Activation: leaky, relu, tanh, sigmoid, erf or rounded.")]
Time = Annotated[float, typer.Option("--time", help="End of the flow; one unit is n steps of rate 1.")]
Mean = Annotated[float, typer.Option(help="Mean of trained weights at the start.")]
Slope = Annotated[float, typer.Option(help="Slope of trained weights in the neuron's frozen ones.")]
Bias = Annotated[float, typer.Option(help="Standard deviation of mixing biases; 0 for none.")]
Solver = Annotated[str | None, typer.Option(help="Solver: memory, quadrature or particles.")]
Widths = Annotated[str | None, typer.Option(help="Widths of finite nets to set beside it: 64,256,1024.")]
Seeds = Annotated[int, typer.Option(help="Nets per width.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Figure = Annotated[Path | None, typer.Option(help="Draw into this .png, .pdf or .svg file.")]
Page = Annotated[Path | None, typer.Option(help="Write a page into this .html file.")]


@app.command()
def meanfield(
    points: What,
    rank: Rank = 2,
    depth: Depth = 1,
    activation: Activation = "erf",
    T: Time = 40.0,
    mean: Mean = 0.5,
    slope: Slope = 1.0,
    mixing_bias: Bias = 0.0,
    solver: Solver = None,
    widths: Widths = None,
    seeds: Seeds = 5,
    as_json: Json = False,
    figure: Figure = None,
    page: Page = None,
):
    """Solve the limit of infinite width of a low-rank random-feature net, and set nets beside it.

    A file has one row per point. In a .csv with a header, columns y, y1, … are targets and a column
    weight has the weights; all others are inputs. Without a header the last column is y. A .npz has
    x, y and perhaps weight.

    Examples:

      saddlescope meanfield points.csv --rank 2 --activation erf --time 40

      saddlescope meanfield points.npz --widths 64,256,1024 --seeds 10 --figure limit.png

      saddlescope meanfield f1_N16_bs4_L2 --activation tanh --time 100 --page limit.html
    """
    kind = figure is None or figure.suffix.lower() in SUFFIXES
    require(kind, f"A figure is .png, .pdf or .svg; got {figure.name if figure else ''!r}.")
    require(page is None or page.suffix.lower() == ".html", f"A page is .html; got {page and page.name!r}.")
    from saddlescope.meanfield.laws import StartLaw
    from saddlescope.workflows.follow_limit import follow_limit, limit_of

    limit = limit_of(points, rank, depth, activation, StartLaw(mean, slope), mixing_bias)
    found = follow_limit(points, limit, T, _whole_numbers(widths), seeds, solver=solver)
    _show(found, as_json)
    for name, path in (("figure", figure), ("page", page)):
        if path:
            _write(name, path, found)
            print(f"{name}: {path}", file=sys.stderr if as_json else sys.stdout)


def _whole_numbers(text):
    try:
        return [int(word) for word in (text or "").split(",") if word.strip()]
    except ValueError:
        raise InvalidInput(f"--widths are whole numbers with commas between, such as 64,256; got {text!r}.") from None


def _show(found, as_json):
    import json

    print(json.dumps(found.as_json(), indent=1, ensure_ascii=False) if as_json else found)


def _write(name, path, found):
    if name == "figure":
        found.draw(path)
        return
    from saddlescope.storage.files import write_bytes
    from saddlescope.workflows.limit_page import page_of_limit

    write_bytes(path, page_of_limit(found).encode())
