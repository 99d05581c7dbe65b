"""When units of a quadratic net explode."""

from typing import final

import numpy as np
import scipy  # its parts are imported when first used
from numpy.typing import ArrayLike

from saddlescope.errors import require
from saddlescope.nets import Neuron, Square, Units
from saddlescope.nets.net import Params
from saddlescope.setting import Setting
from saddlescope.theory.drop_schedule import plain_descent
from saddlescope.theory.prediction import Prediction

FAR = 345.0  # e^{2 FAR} is nearly the largest float


def _modes(sigma, u):
    """s_k, and a_k of every unit (unit × mode)."""
    s, r = np.linalg.eigh(sigma)
    return s, np.asarray(u) @ r / np.sqrt(2)


def explosion_time(v: float, a: ArrayLike, s: ArrayLike) -> float:
    """t_∞, when one unit of a quadratic net grows without bound, in the time of Eq. 48.

    In a residual held still v̇ = Σ_k s_k a_k² and ȧ_k = s_k v a_k. Here s_k are the eigenvalues of
    Σ_yZ and a_k = r_k·u / √2 (Eq. 48; one step of descent lasts 4 lr). With x = ∫ v dt, a_k =
    a_k(0) e^{s_k x} and v² = E(x) = v(0)² + Σ a_k(0)² (e^{2 s_k x} - 1) (Eq. 50–54). So t = ∫ dx /
    v. The paper's Eq. 55 and 56 follow v while it keeps its sign. E is convex. Where it has a zero
    x_t on the way, v turns there and x goes back. t_∞ is then the integral to x_t plus the one from
    x_t the other way; this part is ours.

    The result is infinite where the unit never grows without bound. Reference: simplicity paper,
    Proposition 5 and App. H.2.

    **Arguments:**

    - `v`: The unit's outer weight.
    - `a`: a_k(0), one number per mode.
    - `s`: s_k, one number per mode.
    """
    v, a, s = float(v), np.asarray(a, float), np.asarray(s, float)
    a, s = a[(a != 0) & (s != 0)], s[(a != 0) & (s != 0)]
    if not s.size:
        return np.inf
    size, fastest = np.sqrt(v**2 + a @ a), np.abs(s).max()
    return _in_units(v / size, a / size, s / fastest) / (size * fastest)  # time scales as their inverse


def _in_units(v, a, s):
    """t_∞ where the unit and the fastest mode are of size one."""
    if v < 0 or (v == 0 and s @ a**2 < 0):  # the mirror image
        v, s = -v, -s
    ahead = lambda x: v**2 + a**2 @ np.expm1(2 * s * np.asarray(x))  # noqa: E731
    turn = _turning_point(ahead, a, s)
    if turn is None:
        return _time_between(ahead, s, a)
    steep = abs(2 * a**2 * s @ np.exp(2 * s * turn))
    there = _from_end(ahead, turn, turn / 2, steep) + _from_end(ahead, 0.0, turn / 2)
    back = lambda x: ahead(turn - x)  # noqa: E731
    return there + _time_between(back, -s, a * np.exp(s * turn), steep)


def _turning_point(E, a, s):
    """The first zero of the convex E ahead of 0, or None."""
    slope = lambda x: a**2 * s @ np.exp(2 * s * x)  # noqa: E731
    if slope(0.0) >= 0:
        return None
    far = 1.0
    while slope(far) < 0 and E(far) > 0 and far * np.abs(s).max() < FAR:
        far *= 2
    lowest = scipy.optimize.brentq(slope, 0, far) if slope(far) > 0 else far
    return float(scipy.optimize.brentq(E, 0, lowest, xtol=1e-15, rtol=1e-14)) if E(lowest) < 0 else None  # type: ignore[arg-type]


def _time_between(E, s, a, steep=0.0):
    """∫ dx / √E from 0 to infinity; infinite if E stays bounded. `steep`: E's slope at 0, where E is zero there."""
    growing = (s > 0) & (a != 0)
    if not growing.any():
        return np.inf
    fast = s[growing].max()
    # In y = e^{-fast x} the tail is finite: dx = -dy / (fast y), and √E ~ 1/y.
    far = 3.0 / fast
    if steep or (low := _lowest_point(s, a, far)) is None:
        near = _from_end(E, 0.0, far, steep)
    else:  # v may nearly turn there: a narrow peak
        near = _from_end(E, 0.0, low / 2) + _from_end(E, low, low / 2) + _from_end(E, low, far)
    end = np.exp(-fast * far)
    return near + _integral(lambda y: 1 / (fast * y * np.sqrt(E(-np.log(y) / fast))), end)


def _integral(f, end):
    """∫ f from 0, without a warning that the last digits are rounding."""
    return scipy.integrate.quad(f, 0, end, limit=500, epsabs=0, epsrel=1e-11, full_output=1)[0]


def explosion_steps(setting: Setting, params: Params) -> np.ndarray:
    """Steps of descent until each unit explodes, in the residual that these weights leave.

    Holds for units quadratic in u with one output, while the residual is that of a fixed point. See
    `explosion_time`.

    **Arguments:**

    - `setting`: A setting of quadratic neurons without bias, under plain full-batch descent.
    - `params`: The weights {'u', 'v'}, at the start or on a plateau.
    """
    lr = plain_descent(setting)
    s, a = _modes(_residual_correlation(setting, params), params["u"])
    return np.array([explosion_time(v, row, s) for v, row in zip(params["v"][:, 0], a, strict=True)]) / (4 * lr)


def _from_end(E, x, y, steep=0.0):
    """∫ dx / √E between two points, either way, where E may be small at the first: in w = √|x' - x|. Where E is zero
    there it rises at least as its slope says, being convex: this keeps rounding out of the root."""
    toward = np.sign(y - x)
    inner = lambda w: 2 * w / np.sqrt(max(E(x + toward * w**2), steep * w**2))  # noqa: E731
    return _integral(inner, np.sqrt(abs(y - x)))


def _lowest_point(s, a, far):
    """Where the convex E is least, if that is between 0 and `far`; else None."""
    slope = lambda x: a**2 * s @ np.exp(2 * s * x)  # noqa: E731
    return float(scipy.optimize.brentq(slope, 0, far)) if slope(0.0) < 0 < slope(far) else None  # type: ignore[arg-type]


@final
class QuadraticDrops(Prediction):
    """When the first drop of a quadratic net comes, from its initial draw: the unit with the least
    t_∞.

    Gives `explosion_step` of every unit and `first_drop_step`. Holds for small initial weights,
    quadratic neurons without bias, one output, and full-batch descent at a constant rate.
    Reference: simplicity paper, Proposition 5 and App. H.2; see `explosion_time`.
    """

    def __call__(self, setting):
        steps = explosion_steps(setting, setting.initial_params())
        return {
            "explosion_step": ("unit", steps),
            "first_drop_step": ("first", np.array([steps.min()])),
        }


def _residual_correlation(setting, params):
    """Σ_rZ = ⟨(y - f) x xᵀ⟩ of a quadratic net."""
    unit = setting.net.unit if isinstance(setting.net, Units) else None
    require(
        isinstance(unit, Neuron)
        and isinstance(unit.activation, Square)
        and not unit.bias
        and setting.task.outputs == 1,
        "This theory is for quadratic neurons without bias and with one output.",
    )
    moments = setting.net.statistics(setting.data())
    left = np.asarray((moments.optimum - setting.net.matrix(params, len(moments.xx))) @ moments.xx)[0]
    return left.reshape(setting.task.inputs, -1)
