"""The escaping directions of two-layer linear nets at the origin."""

from dataclasses import dataclass

import numpy as np

from saddlescope.errors import require
from saddlescope.nets import Neuron, Units
from saddlescope.nets.net import Net
from saddlescope.setting import Setting
from saddlescope.tasks.task import Moments


@dataclass(frozen=True)
class LinearModes:
    """The escaping directions of a two-layer linear net at the origin (simplicity paper, Eq.
    32–35).

    Near zero weights θ_i = (v_i, u_i) grows along (q_k, r_k), the singular pairs of Σ_yx, at the
    rate s_k. It shrinks along (q_k, -r_k). What lies in neither, ξ_i, stays as it is. The part of
    the draw that grows is c_ki = (q_k·v_i + r_k·u_i) / 2.

    **Arguments:**

    - `q`: Left singular vectors of Σ_yx, output × mode.
    - `s`: Singular values of Σ_yx, largest first.
    - `r`: Right singular vectors of Σ_yx, input × mode.
    - `c`: The growing part of the initial draw, mode × unit.
    - `moments`: The moments of the data.
    """

    q: np.ndarray
    s: np.ndarray
    r: np.ndarray
    c: np.ndarray
    moments: Moments


def is_linear(net: Net) -> bool:
    """Whether a net is a two-layer net of linear neurons."""
    return isinstance(net, Units) and isinstance(net.unit, Neuron) and net.unit.power == 1


def linear_modes(setting: Setting) -> LinearModes:
    """The escaping directions of a setting's net and initial draw; other nets are refused."""
    require(is_linear(setting.net), "This theory is for two-layer linear nets: use linear_units.")
    moments = Moments.of(setting.data())
    q, s, rt = np.linalg.svd(np.asarray(moments.yx), full_matrices=False)
    require(
        s[-1] > 1e-12 * s[0],
        f"Mode {len(s)} has no correlation with the target (s = {s[-1]:.1e}), so it never escapes: "
        "give the task a teacher of full rank, or more samples than inputs.",
    )
    start = setting.initial_params()
    units = len(start["u"])
    require(
        units >= len(s),
        f"{units} unit{'s' * (units > 1)} cannot learn {len(s)} modes: give the net {len(s)} or more.",
    )
    return LinearModes(q, s, rt.T, (start["v"] @ q + start["u"] @ rt.T).T / 2, moments)
