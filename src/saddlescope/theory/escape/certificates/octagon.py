"""Example 1 settled: on the circle of eight points with alternating G, s*(L) = 1/2 for every depth
L ≥ 3. Exactly.

Claim. Let K be a set of weight vectors, closed under reversing the sign, with Φ₂(w) ≤ s for every w
in K, such that for each w in K and each proper subset A of its positive points some λ ∈ [0,1] puts
w' = (w on A, λw where w < 0) into K. Then no bias-free ReLU net of any depth L ≥ 2 has Σ_j w_j Y_j
> s for a w in K (layers of norm at most one, one output).

Why. Induction on L. At depth 2 this is Φ₂(w) ≤ s. At depth L + 1 the last hidden layer may have one
neuron, so the output is ±σ(h) with h of depth L; let it be +, else take -w. Let A be the positive
points with h_j > 0. If these are all, Σ w_j σ(h_j) ≤ Σ w_j h_j ≤ s. If not, σ(h_j) ≥ λ_j h_j gives
Σ w_j σ(h_j) ≤ Σ w'_j h_j ≤ s. No convexity is needed. Where Φ₂(w on A) ≤ s nothing more is: λ = 0
leaves weights of one sign, for which depth gains nothing (`plain_bounds`).

For Example 1 and s = 1/2 the nine vectors below suffice, with their rotations, reflections and
signs. Their entries are 0, ±1 and ±√2/4, the points have coordinates in ℚ(√2), and so have all rays
of the arrangement. So every test is a comparison in ℚ(√2), made without rounding. The weights of
Eq. 2, with W_3 = [-1], have speed 1/2: the bound is attained at depth 3, and by Prop. 3.2 at every
larger depth. This answers footnote 2 (nothing is faster) and, on these data, conjecture (2): layers
from the third on may be rank one.
"""

from fractions import Fraction
from functools import cache
from itertools import chain, combinations

from saddlescope.theory.escape.certificates.sqrt2 import Sqrt2, exact

HALF = Sqrt2(Fraction(1, 2))
SMALL = Sqrt2(Fraction(0), Fraction(1, 4))  # √2/4
ENTRY = {"+": exact(1), "-": exact(-1), "p": SMALL, "m": -SMALL, "0": exact(0)}
ALTERNATING = "+-+-+-+-"
CLOSED_SET = (
    ALTERNATING,
    "+m0m+-+-",
    "+m0m+m0m",
    "+m00p-+-",
    "+m000m+-",
    "+m00p0p-",
    "+m0000p-",
    "+m00p00m",
    "+m00000m",
)


def point(j) -> tuple[Sqrt2, Sqrt2]:
    """(cos, sin) of j·45°."""
    return _level(j + 2), _level(j)


def _level(j):
    """sin of j·45°: 0, √2/2, 1, √2/2, 0 …"""
    root = Sqrt2(Fraction(0), Fraction(1, 2))
    return (exact(0), root, exact(1), root, exact(0), -root, exact(-1), -root)[j % 8]


@cache
def one_neuron_at_most(w: str, target: Sqrt2) -> bool:
    """Φ₂(w) ≤ target: on the eight rays, and inside the cones between them."""
    rays = all(abs(_value(w, k)) <= target for k in range(8))
    return rays and all(_inside_at_most(w, k, target) for k in range(8))


def _value(w, k):
    """Σ_j w_j σ(u·x_j) at the ray u of k·45°; eight points make these all the rays."""
    return _total(ENTRY[w[j]] * max(_dot(point(k), point(j)), exact(0)) for j in range(8))


def _inside_at_most(w, k, target):
    """Between the rays k and k + 1 the maximum is ‖v‖, where ±v lies strictly between them; else it
    is on a ray.
    """
    middle = tuple(map(sum, zip(point(k), point(k + 1), strict=True)))
    active = [j for j in range(8) if _dot(middle, point(j)).sign > 0]
    v = tuple(_total(ENTRY[w[j]] * point(j)[i] for j in active) for i in (0, 1))
    left, right = _cross(point(k), v).sign, _cross(v, point(k + 1)).sign
    return left * right <= 0 or _dot(v, v) <= target * target


def closes(w: str, target: Sqrt2, members: frozenset) -> bool:
    """Whether Φ₂(w) ≤ target and every proper subset of positive points, of w and of -w, leads back
    to `members`.
    """
    both = all(_subsets_close(c, target, members) for c in (w, _negative(w)))
    return one_neuron_at_most(w, target) and both


def _subsets_close(c, target, members):
    positive = [j for j in range(8) if ENTRY[c[j]].sign > 0]
    proper = chain.from_iterable(combinations(positive, n) for n in range(len(positive)))
    return all(_leads_back(c, chosen, target, members) for chosen in proper)


def _leads_back(c, chosen, target, members):
    alone = "".join(c[j] if j in chosen else "0" for j in range(8))
    return one_neuron_at_most(alone, target) or any(_reached(c, chosen, w) for w in members)


def _reached(c, chosen, w):
    """Whether w is c on the chosen points, λc with λ in [0, 1] where c is negative, and 0
    elsewhere.
    """
    if any(w[j] != (c[j] if j in chosen else "0") for j in range(8) if ENTRY[c[j]].sign >= 0):
        return False
    return all(ENTRY[c[j]] <= ENTRY[w[j]] <= exact(0) for j in range(8) if ENTRY[c[j]].sign < 0)


def is_closed(target: Sqrt2 = HALF, closed_set=CLOSED_SET) -> bool:
    """Whether the set proves that no depth exceeds the target, on every data that one of its
    vectors stands for.

    A rotation, a reflection or the other sign of a vector asks the same questions: one of each is
    tested.
    """
    members = frozenset(chain.from_iterable(map(_orbit, closed_set)))
    return all(closes(w, target, members) for w in closed_set)


def attained() -> Sqrt2:
    """The speed of Eq. 2 with W_3 = [-1] on Example 1: -Σ_j G_j Y_j, G_j = (-1)^j."""
    half = Fraction(1, 2)
    rows = ((half, 0), (0, half), (-half, 0), (0, -half))
    outer = (half, -half, half, -half)
    total = exact(0)
    for j in range(8):
        x = point(j)
        hidden = [max(_dot(tuple(map(exact, row)), x), exact(0)) for row in rows]
        h = _total(a * z for a, z in zip(outer, hidden, strict=True))
        total = total + (-1) ** j * max(h, exact(0))
    return total


def _orbit(w):
    turned = [w[k:] + w[:k] for k in range(8)]
    mirrored = turned + [t[::-1] for t in turned]
    return mirrored + [_negative(t) for t in mirrored]


def _negative(w):
    return w.translate(str.maketrans("+-pm", "-+mp"))


def _dot(u, v):
    return u[0] * v[0] + u[1] * v[1]


def _cross(u, v):
    return u[0] * v[1] - u[1] * v[0]


def _total(terms):
    return sum(terms, exact(0))
