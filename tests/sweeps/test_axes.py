"""Axes, points and filters."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saddlescope.errors import InvalidInput
from saddlescope.sweeps import filter_points, grid, product, zipped
from saddlescope.sweeps.axes import parse_axes, parse_values


def test_a_grid_is_the_product_and_a_zip_is_side_by_side():
    points = grid(lr=(0.1, 0.01), seed=range(3))
    assert [(p["lr"], p["seed"]) for p in points] == list(itertools.product((0.1, 0.01), range(3)))
    assert zipped(N=(256, 512), bs=(4, 8)) == [{"N": 256, "bs": 4}, {"N": 512, "bs": 8}]
    assert len(product(zipped(N=(256, 512), bs=(4, 8)), grid(seed=range(5)))) == 10
    assert product([{"a": 1}], grid()) == [{"a": 1}]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: zipped(a=(1, 2), b=(1,)), "equally long"),
        (lambda: grid(a=(1, 1)), "a value twice"),
        (lambda: product(grid(a=(1,)), grid(a=(2,))), "given twice"),
        (lambda: grid(a=range(10_000), b=range(10_000)), "at most 2,000,000"),
        (lambda: parse_axes(["lr"]), "name=values"),
        (lambda: parse_axes(["lr=1", "lr=2"]), "given twice"),
        (lambda: parse_values("3..1"), "goes upwards"),
        (lambda: parse_values("0..99999999999"), "at most"),
        (lambda: parse_values("1,,2"), "missing between the commas"),
    ],
)
def test_what_makes_no_grid_is_refused(make, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        make()


def test_values_as_people_write_them():
    assert parse_values("1e-2, 1e-3") == (0.01, 0.001)
    assert parse_values("0..3,7") == (0, 1, 2, 3, 7)
    assert parse_values("uniform,true,-2") == ("uniform", True, -2)
    assert parse_axes(["optimiser.lr=0.1"], seeds=2) == {"optimiser.lr": (0.1,), "seed": (0, 1)}


POINTS = grid(factor=(1, 2, 3), bs=(1, 4, 16), N=(4, 8))


@pytest.mark.parametrize(
    ("text", "keep"),
    [
        ("factor == 1 and bs <= 4", lambda factor, bs, N: factor == 1 and bs <= 4),
        ("bs <= N", lambda factor, bs, N: bs <= N),
        ("not (factor in (1, 3)) or N // bs == 2", lambda factor, bs, N: factor not in (1, 3) or N // bs == 2),
        ("1 < factor <= 3 and bs % 3 != 1 - 0", lambda factor, bs, N: 1 < factor <= 3 and bs % 3 != 1),
        ("-factor * 2 + N / 2 > 0", lambda factor, bs, N: -factor * 2 + N / 2 > 0),
    ],
)
def test_a_filter_keeps_what_python_would(text, keep):
    assert filter_points(POINTS, text) == [p for p in POINTS if keep(**p)]


def test_a_filter_may_name_a_path():
    assert filter_points(grid(**{"optimiser.lr": (0.1, 0.01)}), "optimiser.lr > 0.05") == [{"optimiser.lr": 0.1}]


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('x')", "factor.__class__", "[f for f in (1,)]", "(lambda: 1)()", "factor if bs else N",
     "2 ** 9999999999", "f'{factor}'", "factor :=  1", "", "and", "'a' * 10 ** 9", "factor << 70", "b'x' == factor",
     "1j == factor", "factor == ..."],
)  # fmt: skip
def test_a_filter_evaluates_nothing_else(text):
    with pytest.raises(InvalidInput):
        filter_points(POINTS, text)


def test_a_misspelt_axis_is_refused_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"names 'facto'; the axes are factor, bs, N. Did you mean 'factor'\?"):
        filter_points(POINTS, "facto == 1")
    with pytest.raises(InvalidInput, match="cannot be evaluated"):
        filter_points(POINTS, "bs < 'a'")
    with pytest.raises(InvalidInput, match="cannot be evaluated"):
        filter_points(POINTS, "bs / 0 > 1")


@given(st.text(max_size=60))
def test_any_text_is_a_filter_or_refused(text):
    try:
        kept = filter_points(POINTS, text)
    except InvalidInput:
        return
    assert all(p in POINTS for p in kept)
