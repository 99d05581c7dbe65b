"""The command line. Thin: it parses, calls, prints. Heavy imports wait inside the commands, so `--help` is quick."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.refusal import Refusal, nearest, refuse_unless

app = typer.Typer(
    name="saddlescope",
    help="A laboratory for the stages of neural-network learning.\n\nExamples:\n\n"
    "  saddlescope list\n\n  saddlescope run simplicity.fig1b --quick\n\n"
    "  saddlescope train f3_N768_bs8_L2 --rank 10\n\n  saddlescope stages loss.csv --column loss",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
)
OUT = "saddlescope-results"


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


Out = Annotated[Path, typer.Option(help="Folder for the results, one folder an experiment.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


@app.command("list")
def list_(out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT)):
    """List the experiments: title, place in the paper, cost, last stored verdicts.

    Cost is CPU time of the recorded run. Verdicts are those of your own last run in OUT, else the recorded ones.
    """
    from saddlescope.experiment import find, keys
    from saddlescope.report.overview import overview

    for key in keys():
        print(overview(key, find(key), out))


@app.command()
def run(
    key: Annotated[str, typer.Argument(help="An experiment (simplicity.fig1b), a paper (simplicity), or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="As few points as still show the effect.")] = False,
    seeds: Annotated[int | None, typer.Option(help="Run seeds 0 … N-1 instead.")] = None,
    axis: Annotated[
        list[str] | None, typer.Option(help="Replace an axis: `target=diagonal`, `seed=0..4`, `lr=0.1,0.01`.")
    ] = None,
    out: Out = Path(OUT),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object an experiment.")] = False,
    workers: Annotated[int, typer.Option(help="Worker processes, one thread each.")] = 1,
    quiet: Quiet = False,
):
    """Run experiments, judge their claims, and write results, figure and page.

    Exit status: 0 if every verdict is as recorded, 1 if one differs, 2 for bad usage. Runs with other seeds or axes
    than the recorded ones are judged, but not compared with the record.

    Examples:

      saddlescope run simplicity.fig1b --quick

      saddlescope run simplicity --seeds 5 --workers 2 --out results

      saddlescope run simplicity.fig1b --axis target=diagonal --axis seed=0..9
    """
    from saddlescope.experiment import find, matching
    from saddlescope.report.axes import parse_axes
    from saddlescope.report.folder import run_to_folder, write_contents
    from saddlescope.report.record import differences

    chosen, scale, differs = matching(key), "quick" if quick else "full", []
    axes = parse_axes(axis or [], seeds)
    for name in chosen:  # refuse before the first run, not after the last
        find(name).check_axes(axes)
    for name in chosen:
        folder, verdicts = run_to_folder(name, scale, axes, out, workers, quiet)
        differs += (found := [] if axes else differences(name, scale, verdicts))
        if as_json:
            shown = [{"sentence": v.sentence, "where": v.where, "holds": v.holds, "evidence": v.evidence,
                      "runs": v.runs, "not_finite": v.not_finite} for v in verdicts]  # fmt: skip
            same = None if axes else not found
            print(json.dumps({"key": name, "scale": scale, "folder": str(folder), "as_recorded": same,
                              "verdicts": shown}))  # fmt: skip
        else:
            print(f"{name} ({scale}): {find(name).title}", *(f"  {v}" for v in verdicts), sep="\n")
            if untested := len(find(name).claims) - len(verdicts):
                print(f"  not tested, for want of runs: {untested} of {len(find(name).claims)} claims")
            print(f"  page: {folder / 'index.html'}")
    write_contents(out)
    for sentence in differs:
        print(f"saddlescope: not as recorded: {sentence}", file=sys.stderr)
    raise typer.Exit(1 if differs else 0)


@app.command()
def train(
    name: Annotated[str, typer.Argument(help="Factor, samples, batch and depth, such as f3_N768_bs8_L2.")],
    rank: Annotated[int, typer.Option(help="Channels of every bottleneck.")] = 10,
    seed: Annotated[int, typer.Option(help="Of weights and batch order.")] = 0,
    epochs: Annotated[int, typer.Option(help="The run stops here, or when its rate falls below 1e-6.")] = 10_000,
    init: Annotated[str, typer.Option(help="uniform, gaussian or mean-field.")] = "uniform",
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
    from saddlescope.named import Name
    from saddlescope.nets import Gaussian, MeanField, UniformFanIn
    from saddlescope.report.one_run import folder_for, train_to_folder
    from saddlescope.stages import find_stages

    kinds = {"uniform": UniformFanIn, "gaussian": Gaussian, "mean-field": MeanField}
    refuse_unless(init in kinds, f"`--init` must be {', '.join(kinds)}; got {init!r}.{nearest(init, kinds)}")
    setting = Name.parse(name).setting(
        rank, seed, width=width, lr=lr, clip=clip or None, momentum=momentum, epochs=epochs, precision=precision,
        engine=engine, allow_aliasing=allow_aliasing, parameterisation=kinds[init](),
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
def show(
    what: Annotated[str, typer.Argument(help="An experiment's key, or a results file or folder.")],
    out: Annotated[Path, typer.Option(help="Where `run` wrote its results.")] = Path(OUT),
):
    """Show an experiment's settings, stages and verdicts, or those of a stored result.

    Examples:

      saddlescope show simplicity.fig1b

      saddlescope show saddlescope-results/simplicity.fig1b
    """
    from saddlescope.report.overview import describe_key, describe_stored

    stored = Path(what).exists() or "/" in what or what.endswith(".nc")
    print(describe_stored(what) if stored else describe_key(what, out))


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
    refuse_unless(path.suffix.lower() in kinds, f"A figure is .png, .pdf or .svg, got {path.name!r}.")
    from saddlescope.curves import read_curve
    from saddlescope.report.curve_figure import draw_curve
    from saddlescope.stages import find_stages
    from saddlescope.store import check

    if file.is_dir():
        file = file / "results.nc"
    if file.is_file():
        check(file)
    times, loss, name = read_curve(file, column, time)
    found = find_stages(loss, times, log_time=log_time, smooth=smooth)
    print(found)
    draw_curve(path, found, loss, times, name, log_time)
    print(f"figure: {path}")


def main():
    """Entry point: bad input is one sentence on standard error and exit status 2, never a traceback."""
    try:
        status = app(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.TyperException as error:
        fail(f"{error.format_message().rstrip('.')}; `saddlescope --help` shows what can be given.", 2)
    except (Refusal, OSError) as error:
        fail(str(error), 2)
    except MemoryError as error:
        fail(f"this does not fit into memory ({error}); use a smaller width, depth or number of samples.", 2)
    if status == 130:  # Ctrl-C
        fail("stopped; what was finished is kept.", 130)
    sys.exit(status)


def fail(sentence, status):
    print(f"saddlescope: {sentence}", file=sys.stderr)
    sys.exit(status)
