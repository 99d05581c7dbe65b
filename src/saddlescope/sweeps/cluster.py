"""A Dask cluster as an Executor: one API from two processes on this machine to Slurm and Kubernetes."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from saddlescope.errors import InvalidInput

WAIT = 30  # seconds for the scheduler, and for its first worker


@contextmanager
def cluster_executor(address: str) -> Iterator[Executor]:
    """The executor of the cluster at this address, once it has a worker. Its workers must see the sweep's folder."""
    try:
        from distributed import Client
    except ImportError:
        raise InvalidInput("A cluster needs Dask: pip install 'saddlescope[cluster]'.") from None
    try:
        client = Client(address, timeout=WAIT, set_as_default=False)  # the user may have another client
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(
            f"No Dask scheduler answers at {address} ({error}); start one with `dask scheduler`."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise InvalidInput(f"The scheduler at {address} has no workers; start some with `dask worker`.") from None
        yield client.get_executor()
