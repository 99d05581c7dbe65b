"""Commands on sweeps: sweep, collect, ls, verify."""

import json
import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from saddlescope.cli.app import OUT, Axis, Import, Quiet, app, fail, import_all
from saddlescope.errors import require

Where = Annotated[str | None, typer.Option(help='Keep only these points: "factor == 1 and bs <= 4".')]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="Folder that `sweep` or `run` wrote.")]


@app.command()
def sweep(
    what: Annotated[str, typer.Argument(metavar="FILE|KEY", help="Sweep file (.toml), or key of an experiment.")],
    axis: Axis = None,
    where: Where = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use the quick axes of an experiment.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes, one thread each [default: one per core].")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Folder of the sweep [default: {OUT}/KEY, or {OUT}/NAME.sweep of a file]."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be run and what it would cost.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Retry failed runs only.")] = False,
    max_failures: Annotated[int | None, typer.Option(help="Stop after this many failures.")] = None,
    own: Import = None,
    quiet: Quiet = False,
):
    """Train every point of a grid, in processes or on a cluster; never lose a finished run.

    Rerun the same command to resume: it runs only what is missing. Several commands on one folder share the work, on
    one machine or on several. A failing run is recorded and does not affect the others. The runs of an experiment
    go to the folder of `run`, which then finds them.

    Exit status: 0 if every run is done, 1 if some failed or are missing, 2 for bad usage or a full disk, 130 after
    Ctrl-C.

    Examples:

      saddlescope sweep sweep.toml --workers 2

      saddlescope sweep sweep.toml --where "factor == 1 and bs <= 4" --dry-run

      saddlescope sweep valleys.halving --axis seed=0..99 --out halving

      saddlescope sweep sweep.toml --cluster tcp://head:8786 --out shared/sweep
    """
    from saddlescope.workflows.estimate import estimate_cost
    from saddlescope.workflows.run_sweep import describe_end, plan_sweep, run_sweep

    require(max_failures is None or max_failures > 0, f"`--max-failures` must be positive, got {max_failures}.")
    require(not (cluster and workers), "Give `--workers` or `--cluster`, not both: a cluster has its own.")
    require(workers is None or workers > 0, f"`--workers` must be a positive number, got {workers}.")
    import_all(own)
    count = _cores() if workers is None else workers
    plan, folder = plan_sweep(what, axis or [], where, "quick" if quick else "full", out, OUT)
    if dry_run:
        print(estimate_cost(plan, folder, count))
        return
    options = [w for name in own or () for w in ("--import", name)]
    options += [w for a in axis or () for w in ("--axis", a)] + (["--where", where] if where else [])
    options += ["--quick"] * quick + (["--workers", str(workers)] if workers else [])
    options += ["--cluster", cluster] if cluster else []
    retry = shlex.join(["saddlescope", "sweep", what, *options, "--out", str(folder), "--failed"])
    try:
        tally = run_sweep(
            plan, folder, count, cluster=cluster, only_failed=failed, max_failures=max_failures, quiet=quiet
        )
    except KeyboardInterrupt:
        fail(f"stopped; finished runs are kept in {folder}, and the same command resumes.", 130)
    print(describe_end(tally, folder, retry))
    if tally.gave_up:
        fail(f"stopped: {tally.stopped}.", 1)
    if tally.stopped:
        fail(f"stopped: {tally.stopped}. Finished runs are kept; fix this and give the same command.", 2)
    raise typer.Exit(1 if tally.failed or tally.missing else 0)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.command()
def collect(
    folder: Dir,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="NetCDF file [default: DIR/sweep.nc].")] = None,
    table: Annotated[Path | None, typer.Option(help="Table with one row per run, .csv or .parquet.")] = None,
    where: Where = None,
    quiet: Quiet = False,
):
    """Put all runs of a folder together: one labelled NetCDF file, or a table with one row per run.

    The table has the stages of each run: number of drops, step or epoch of each drop, loss of each plateau. Missing
    runs are counted and left out of the NetCDF file; in the table they appear as empty rows. With `--table` and no
    `-o`, only the table is written.

    Examples:

      saddlescope collect saddlescope-results/escape.sweep -o escape.nc

      saddlescope collect saddlescope-results/escape.sweep --table runs.parquet --where "seed < 5"

      saddlescope collect saddlescope-results/simplicity.fig1b --table runs.csv
    """
    from saddlescope.report.sweep_folder import collect_folder

    for sentence in collect_folder(folder, output, table, where, quiet):
        print(sentence)


@app.command("ls")
def list_runs(
    folder: Dir,
    where: Where = None,
    all_: Annotated[bool, typer.Option("--all", help="List every run, not the first twenty of each kind.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
):
    """List what is done, failed, missing and under way in a folder, with reasons.

    Examples:

      saddlescope ls saddlescope-results/escape.sweep

      saddlescope ls saddlescope-results/escape.sweep --where "seed == 3" --all
    """
    from saddlescope.report.sweep_folder import listing, listing_facts

    print(json.dumps(listing_facts(folder, where)) if as_json else listing(folder, where, all_))


@app.command()
def verify(folder: Dir, quiet: Quiet = False):
    """Check every byte of a folder against its checksums.

    Exit status: 0 if all is as it was written, 1 if something is damaged. The next `sweep` or `run` in the folder moves
    damaged runs away and does them again.

    Examples:

      saddlescope verify saddlescope-results/escape.sweep
    """
    from saddlescope.report.sweep_folder import verify_folder

    lines, good = verify_folder(folder, quiet)
    print("\n".join(lines))
    raise typer.Exit(0 if good else 1)
