"""Images of ten classes: how pixels are normalised, against numpy; what is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from saddlescope.errors import InvalidInput
from saddlescope.tasks import ImageClasses, images
from saddlescope.tasks.datasets import find_dataset


def test_small_digits_have_zero_mean_and_unit_deviation():
    data, digits = ImageClasses("small").data(None), load_digits()
    assert data.x.shape == (1797, 64)
    assert abs(data.x.mean()) < 1e-12
    assert abs(data.x.std() - 1) < 1e-12
    np.testing.assert_array_equal(data.y.argmax(1), digits.target)
    np.testing.assert_array_equal(data.y.sum(1), 1)
    pixels = digits.data / 16
    np.testing.assert_allclose(data.x, (pixels - pixels.mean()) / pixels.std(), atol=1e-12)


def test_some_samples_are_the_first_and_are_normalised_as_all():
    task = ImageClasses("small", 50)
    assert task.size == 50
    np.testing.assert_array_equal(task.data(None).x, ImageClasses("small").data(None).x[:50])


def test_colours_become_grey(monkeypatch):
    """The weights of ITU-R 601; mean and deviation are those of the grey values."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (7, 3072), dtype=np.uint8)
    monkeypatch.setattr(images, "load_images", lambda *_: (x, np.arange(7), 255.0))
    images._moments.cache_clear()
    found = ImageClasses("cifar10", 3).data(None)
    images._moments.cache_clear()
    red, green, blue = np.moveaxis(x.reshape(7, 1024, 3).astype(float), 2, 0)
    grey = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    np.testing.assert_allclose(found.x, (grey[:3] - grey.mean()) / grey.std(), rtol=1e-9)


def test_small_digits_have_no_test_images():
    assert ImageClasses("small").held_out(None) is None


def test_mnist_has_test_images():
    if not find_dataset("mnist").path.is_file():
        pytest.skip("MNIST is not here")
    assert ImageClasses("mnist", 10).held_out(None).x.shape == (10_000, 784)


@pytest.mark.parametrize("bad", [("cifar",), ("small", 0), ("small", 1798), ("small", 2.5)])
def test_what_there_is_not_is_refused(bad):
    with pytest.raises(InvalidInput):
        ImageClasses(*bad)


@pytest.mark.parametrize("dataset", ["mnist", "fashion", "cifar10"])
def test_without_the_data_there_is_one_sentence(tmp_path, monkeypatch, dataset):
    monkeypatch.setenv("SADDLESCOPE_CACHE", str(tmp_path))
    images.load_images.cache_clear()
    with pytest.raises(InvalidInput, match=f"saddlescope data {dataset}"):
        ImageClasses(dataset).data(None)
