"""Commands on sweeps: sweep, collect, ls, verify."""

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Axis, Quiet, app, fail
from saddlescope.cli.own_code import Import, import_all
from saddlescope.errors import require

Where = Annotated[str | None, typer.Option(help='Only these points: "factor == 1 and bs <= 4".')]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a sweep.")]


@app.command()
def sweep(
    what: Annotated[str, typer.Argument(metavar="FILE|KEY", help="A sweep file (.toml) or an experiment's key.")],
    axis: Axis = None,
    where: Where = None,
    quick: Annotated[bool, typer.Option("--quick", help="The quick axes of an experiment.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes, one thread each [default: one a core].")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help=f"Folder of the sweep [default: {OUT}/NAME.sweep].")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and what it costs.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Do what had failed, and only that.")] = False,
    max_failures: Annotated[int | None, typer.Option(help="Stop after so many failures.")] = None,
    own: Import = None,
    quiet: Quiet = False,
):
    """Train every point of a grid, in processes or on a cluster; never lose a finished run.

    The same command again does only what is missing, wherever the last one was stopped. Several at once on one folder,
    on one machine or more, share the work. A run that fails is recorded and does not stop the others.

    Exit status: 0 if every run is done, 1 if some failed or are missing, 2 for bad usage or a full disk, 130 after
    Ctrl-C.

    Examples:

      saddlescope sweep sweep.toml --workers 2

      saddlescope sweep sweep.toml --where "factor == 1 and bs <= 4" --dry-run

      saddlescope sweep valleys.halving --axis seed=0..99 --out halving

      saddlescope sweep sweep.toml --cluster tcp://head:8786 --out shared/sweep
    """
    from saddlescope.workflows.run_sweep import ending, estimate, plan_of, run_sweep

    require(max_failures is None or max_failures > 0, f"`--max-failures` is positive, got {max_failures}.")
    require(not (cluster and workers), "Give `--workers` or `--cluster`, not both: a cluster has its own.")
    require(workers is None or workers > 0, f"`--workers` must be a positive number, got {workers}.")
    hands = cores() if workers is None else workers
    import_all(own)
    plan, folder = plan_of(what, axis or [], where, "quick" if quick else "full", out)
    if dry_run:
        print(estimate(plan, folder, hands))
        return
    options = [w for name in own or () for w in ("--import", name)]
    options += [w for a in axis or () for w in ("--axis", a)] + (["--where", where] if where else [])
    options += ["--quick"] * quick + (["--workers", str(workers)] if workers else [])
    options += ["--cluster", cluster] if cluster else []
    again = shlex.join(["saddlescope", "sweep", what, *options, "--out", str(folder), "--failed"])
    try:
        tally = run_sweep(plan, folder, hands, cluster, failed, max_failures, quiet)
    except KeyboardInterrupt:
        fail(f"stopped; what is done is kept in {folder}, and the same command goes on.", 130)
    print(ending(tally, folder, again))
    if tally.gave_up:
        fail(f"stopped: {tally.stopped}.", 1)
    if tally.stopped:
        fail(f"stopped: {tally.stopped}. What is done is kept; mend this and give the same command.", 2)
    raise typer.Exit(1 if tally.failed or tally.missing else 0)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.command()
def collect(
    folder: Dir,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The NetCDF file [default: DIR/sweep.nc].")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="One row a run, as .csv or .parquet.")] = None,
    where: Where = None,
    quiet: Quiet = False,
):
    """Put all runs of a sweep together: one labelled NetCDF file, and a table with a row a run.

    What is not there yet is said, and left out of the file; in the table it has a row without numbers. With `--table`
    and no `-o`, only the table is written.

    Examples:

      saddlescope collect saddlescope-results/escape.sweep -o escape.nc

      saddlescope collect saddlescope-results/escape.sweep --table runs.parquet --where "seed < 5"
    """
    from saddlescope.report.sweep_folder import collect_folder

    for sentence in collect_folder(folder, output, table, where, quiet):
        print(sentence)


@app.command("ls")
def list_runs(
    folder: Dir,
    where: Where = None,
    all_: Annotated[bool, typer.Option("--all", help="Every run, not the first twenty of each kind.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
):
    """List what is done, failed, missing and under way in the folder of a sweep, with reasons.

    Examples:

      saddlescope ls saddlescope-results/escape.sweep

      saddlescope ls saddlescope-results/escape.sweep --where "seed == 3" --all
    """
    from saddlescope.report.sweep_folder import listing, listing_facts

    print(json.dumps(listing_facts(folder, where)) if as_json else listing(folder, where, all_))


@app.command()
def verify(folder: Dir, quiet: Quiet = False):
    """Check every byte of a sweep's folder against its checksums.

    Exit status: 0 if all is as it was written, 1 if something is damaged. The next sweep in the folder sets damaged
    runs aside and does them again.

    Examples:

      saddlescope verify saddlescope-results/escape.sweep
    """
    from saddlescope.report.sweep_folder import verify_folder

    lines, good = verify_folder(folder, quiet)
    print("\n".join(lines))
    raise typer.Exit(0 if good else 1)
