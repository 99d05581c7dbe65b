"""Certificates: what the best escape speed is, proved rather than searched."""

from saddlescope.theory.escape.certificates.all_depths import all_depths_optimum
from saddlescope.theory.escape.certificates.certificate import BOUNDED, EXACT, Certificate
from saddlescope.theory.escape.certificates.depth2 import depth2_optimum
from saddlescope.theory.escape.certificates.depth3 import depth3_optimum
from saddlescope.theory.escape.certificates.plain_bounds import NORMS, every_depth_bound
from saddlescope.theory.escape.certificates.speed_bound import speed_bound

__all__ = [
    "BOUNDED",
    "EXACT",
    "NORMS",
    "Certificate",
    "all_depths_optimum",
    "depth2_optimum",
    "depth3_optimum",
    "every_depth_bound",
    "speed_bound",
]
