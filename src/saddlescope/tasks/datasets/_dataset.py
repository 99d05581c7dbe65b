"""The kind of all data sets."""

import io
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.storage.files import write_atomically
from saddlescope.tasks.datasets._download import BROKEN

Arrays = dict[str, np.ndarray]


class Dataset(ABC):
    """Abstract base of data sets that are fetched once, checked and cached.

    A data set is four arrays, `train_x`, `train_y`, `test_x` and `test_y`, with one row per sample.
    It is cached as one file, NAME.npz, where NAME is the name of the Python file that defines it.
    Nothing that is fetched is executed, and `check` is asked before anything is used.

    A subclass has a `title` for readers, and the download's size in `megabytes`. It says in
    `instead` what to do without a network. It has the methods `sources` and `check`.
    """

    title: ClassVar[str]
    megabytes: ClassVar[int]
    instead: ClassVar[str]

    @abstractmethod
    def sources(self) -> Mapping[str, Callable[[], Arrays]]:
        """Where the arrays come from, by name, in the order in which they are tried."""

    @abstractmethod
    def check(self, arrays: Arrays) -> None:
        """Refuse arrays that are not the data set as it was published."""

    @property
    def name(self) -> str:
        """The name of the file that defines the data set, as in `saddlescope data NAME`."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def path(self) -> Path:
        """Where the data set is cached, whether it is there or not."""
        return _cache_folder() / f"{self.name}.npz"

    def load(self) -> Arrays:
        """Read the arrays from the cache, and check them."""
        command = f"`saddlescope data {self.name}`"
        require(
            self.path.is_file(),
            f"{self.title} is not here yet: {command} fetches it once ({self.megabytes} MB). "
            f"Without a network {self.instead}.",
        )
        try:
            content = io.BytesIO(self.path.read_bytes())
            with np.load(content, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            self.check(arrays)
        except BROKEN:
            raise InvalidInput(f"{self.path} is damaged: remove it and give {command} again.") from None
        return arrays

    def fetch(self, say: Callable[[str], object] = print) -> Path:
        """Put the data set into the cache, from the first source that has it whole.

        What is cached already is checked, not fetched again.

        **Arguments:**

        - `say`: Told which source is tried.
        """
        if self.path.is_file():
            self.load()
            return self.path
        _refuse_unwritable(self.path.parent)
        reasons = []
        for name, source in self.sources().items():
            say(f"trying {name} …")
            try:
                arrays = source()
                self.check(arrays)
            except BROKEN as error:
                reasons.append(f"{name}: {_first_line(error)}")
                continue
            with write_atomically(self.path) as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            return self.path
        tried = "; ".join(reasons)
        raise InvalidInput(f"{self.title} could not be fetched ({tried}). Without it {self.instead}.")


def _cache_folder() -> Path:
    """Where fetched data is kept: $SADDLESCOPE_CACHE, or the user's cache folder."""
    given = os.environ.get("SADDLESCOPE_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "saddlescope"


def _first_line(error):
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _refuse_unwritable(folder):
    """Before anything is fetched."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(
            f"Data is kept in {folder}, which cannot be written to ({error.strerror}): "
            "set SADDLESCOPE_CACHE to another folder."
        ) from None
