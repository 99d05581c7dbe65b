"""The proof for Example 1 in exact arithmetic: it holds for 1/2, and fails where it must."""

from fractions import Fraction

import numpy as np
import pytest

from saddlescope.theory.escape.certificates import depth2_optimum, depth3_optimum
from saddlescope.theory.escape.certificates.octagon import (
    ALTERNATING,
    CLOSED_SET,
    ENTRY,
    HALF,
    attained,
    is_closed,
    one_neuron_at_most,
    point,
)
from saddlescope.theory.escape.certificates.sqrt2 import Sqrt2, exact


def test_numbers_are_ordered_as_floats_are():
    rng = np.random.default_rng(0)
    numbers = [Sqrt2(Fraction(int(a), 7), Fraction(int(b), 5)) for a, b in rng.integers(-20, 20, (200, 2))]
    for x, y in zip(numbers, numbers[::-1], strict=True):
        assert (x < y) == (float(x) < float(y))
        assert float(x * y - x + y) == pytest.approx(float(x) * float(y) - float(x) + float(y))
        assert float(abs(x)) == pytest.approx(abs(float(x)))
    root = Sqrt2(Fraction(0), Fraction(1))
    assert root * root == exact(2)
    near = Fraction(665857, 470832)  # above √2 by 1.6e-12
    assert root < near
    assert not near < root
    with pytest.raises(TypeError, match="Exact numbers"):
        exact(0.5)


def test_the_exact_test_of_one_neuron_agrees_with_the_arrangement():
    X = np.array([[float(v) for v in point(j)] for j in range(8)]).T
    for w in CLOSED_SET:
        value = depth2_optimum(X, [[float(ENTRY[e]) for e in w]]).speed
        for target in (Fraction(1, 3), Fraction(2, 5), Fraction(42, 100), Fraction(499, 1000), Fraction(501, 1000)):
            assert one_neuron_at_most(w, Sqrt2(target)) == (value <= target)


def test_one_half_is_proved_and_attained():
    assert is_closed()
    assert attained() == HALF
    assert CLOSED_SET[0] == ALTERNATING


def test_the_proof_fails_below_one_half_and_without_any_of_its_vectors():
    assert not is_closed(Sqrt2(Fraction(499_999, 1_000_000)))
    for left_out in CLOSED_SET[1:]:
        assert not is_closed(HALF, tuple(w for w in CLOSED_SET if w != left_out))


@pytest.mark.parametrize("control", ["++-+-+-+", "+-+-+-++", "++--++--"])
def test_the_proof_fails_for_a_target_that_is_faster(control):
    X = np.array([[float(v) for v in point(j)] for j in range(8)]).T
    assert depth3_optimum(X, [[float(ENTRY[e]) for e in control]]).speed > 0.51
    assert not is_closed(HALF, (control, *CLOSED_SET))
