"""Numbers a + b√2 with fractions a and b, without rounding: sums, products and the order of such
numbers are exact.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering


@total_ordering
@dataclass(frozen=True)
class Sqrt2:
    """a + b√2.

    **Arguments:**

    - `a`, `b`: integers or fractions.
    """

    a: Fraction
    b: Fraction = Fraction(0)

    def __add__(self, other):
        other = exact(other)
        return Sqrt2(self.a + other.a, self.b + other.b)

    def __neg__(self):
        return Sqrt2(-self.a, -self.b)

    def __sub__(self, other):
        return self + -exact(other)

    def __mul__(self, other):
        other = exact(other)
        return Sqrt2(self.a * other.a + 2 * self.b * other.b, self.a * other.b + self.b * other.a)

    __radd__, __rmul__ = __add__, __mul__

    @property
    def sign(self) -> int:
        """-1, 0 or 1. Where a and b have different signs, a² is compared with 2b²."""
        a, b = _sign(self.a), _sign(self.b)
        return a or b if a * b >= 0 else a * _sign(self.a**2 - 2 * self.b**2)

    def __lt__(self, other):
        return (self - other).sign < 0

    def __eq__(self, other):
        return (self - other).sign == 0

    def __hash__(self):
        return hash((self.a, self.b))

    def __abs__(self):
        return -self if self.sign < 0 else self

    def __float__(self):
        return float(self.a) + float(self.b) * 2**0.5


def exact(number) -> Sqrt2:
    """An integer or fraction as such a number; others are refused, because floats carry rounding."""
    if isinstance(number, Sqrt2):
        return number
    if not isinstance(number, int | Fraction):
        raise TypeError(f"Exact numbers are integers, fractions or a + b√2; got {number!r}.")
    return Sqrt2(Fraction(number))


def _sign(x):
    return (x > 0) - (x < 0)
