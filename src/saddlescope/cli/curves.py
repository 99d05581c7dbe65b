"""Commands on one curve: train, stages."""

import json
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Quiet, app, fail
from saddlescope.errors import require


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="Factor, samples, batch and depth, such as f3_N768_bs8_L2.")],
    rank: Annotated[int, typer.Option(help="Channels of every bottleneck.")] = 10,
    seed: Annotated[int, typer.Option(help="Of weights and batch order.")] = 0,
    epochs: Annotated[int, typer.Option(help="The run stops here, or when its rate falls below 1e-6.")] = 10_000,
    init: Annotated[str, typer.Option(help="uniform, gaussian, mean-field or mup.")] = "uniform",
    lr: Annotated[float, typer.Option(help="Learning rate at the start.")] = 0.01,
    clip: Annotated[float, typer.Option(help="Largest gradient norm; 0 for no clipping.")] = 1.0,
    momentum: Annotated[float | None, typer.Option(help="Of gradient descent; none by default.")] = None,
    width: Annotated[int, typer.Option(help="Random features of every block.")] = 1024,
    precision: Annotated[str, typer.Option(help="float32 or float64.")] = "float32",
    engine: Annotated[str | None, typer.Option(help="fused or jax; by default the faster one that fits.")] = None,
    allow_aliasing: Annotated[bool, typer.Option("--allow-aliasing", help="Targets above the Nyquist limit.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results, one folder a run.")] = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Quiet = False,
):
    """Train one run of the valleys paper by its name; print how it ended, write results and a figure.

    The target is the sum of `factor` cosines, the net a low-rank random-feature net, the rate halved on stagnation.
    Stopped by Ctrl-C, the same command goes on where it was; killed, from its last checkpoint, seconds before. A run
    that was finished is trained anew.

    Examples:

      saddlescope train f3_N768_bs8_L2

      saddlescope train f3_N768_bs4_L3 --rank 10 --seed 1 --init gaussian --json

      saddlescope train f1_N64_bs8_L1 --lr 1e6 --clip 0
    """
    from saddlescope.papers.valleys._protocol import Name, valleys
    from saddlescope.papers.valleys._run_folder import folder_for, train_to_folder
    from saddlescope.stages import find_stages

    named = Name.parse(name)
    setting = valleys(
        named.factor, named.samples, named.batch, named.depth, rank, seed, init, lr, clip, momentum, width, epochs,
        precision, engine, allow_aliasing,
    )  # fmt: skip
    try:
        folder, run, summary = train_to_folder(setting, out, quiet)
    except KeyboardInterrupt:
        fail(f"stopped; the same command goes on from {folder_for(out, setting)}.", 130)
    if as_json:
        print(json.dumps(summary | {"folder": str(folder)}))
        return
    kind = f" ({summary['failure']})" if summary["failure"] else ""
    print(f"{summary['name']}, rank {rank}, {init}, seed {seed}: {summary['outcome']}{kind}")
    print(f"test error {shown(summary['test_mse'])}, training loss {shown(summary['train_loss'])}", end=", ")
    print(f"least epoch loss {shown(summary['min_loss'])}; {summary['status']}")
    if summary["aliased"]:
        print("aliased: the target is faster than its samples can show, and the test error says so")
    print(f"{summary['epochs']} epochs, {summary['cuts']} cuts, {summary['cpu_seconds']:.1f} s CPU, {setting.engine}")
    if summary["stages"]:
        print(find_stages(run["loss"].values))
    print(f"results and figure: {folder}")


def shown(x):
    return "not finite" if x is None else f"{x:.3g}"


@app.command()
def stages(
    file: Annotated[Path, typer.Argument(help="A curve: CSV, NPZ or NetCDF.")],
    column: Annotated[str | None, typer.Option(help="Which column or variable; `loss[3]` takes row 3.")] = None,
    time: Annotated[str | None, typer.Option(help="Which column or variable is time.")] = None,
    log_time: Annotated[bool, typer.Option("--log-time", help="Measure rates per unit of log time.")] = False,
    smooth: Annotated[float | None, typer.Option(help="Smoothing width in points, instead of the automatic.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Where to draw [default: FILE.stages.png].")] = None,
):
    """Find the plateaus and drops of any loss curve; print the table, write a figure.

    Examples:

      saddlescope stages loss.csv

      saddlescope stages log.csv --column train_loss --time epoch --log-time

      saddlescope stages saddlescope-results/simplicity.fig1b --column "loss[3]"
    """
    path = figure or file.with_name(file.name + ".stages.png")
    kinds = (".png", ".pdf", ".svg")
    require(path.suffix.lower() in kinds, f"A figure is .png, .pdf or .svg, got {path.name!r}.")
    from saddlescope.figures.panels.curve import draw_curve
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
