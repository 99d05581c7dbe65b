"""`--import`: the user's own nets, tasks, observables and functions, known before anything stored is read."""

from typing import Annotated

import typer

Import = Annotated[
    list[str] | None,
    typer.Option("--import", metavar="FILE|MODULE", help="Import code of your own first: my_nets.py. Repeatable."),
]


def import_all(names: list[str] | None):
    """Import what the user named, in that order."""
    if names:
        from saddlescope.serialization.own_code import import_own

        for name in names:
            import_own(name)
