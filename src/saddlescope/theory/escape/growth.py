"""How a net grows along an escape direction, and when its outputs reach a size (escape paper,
Proposition 2.2, t₁).

Let ρ be an escape direction, ‖ρ‖² = L and ∇L0(ρ) = −sρ, and R = ‖θ‖. By homogeneity L0(ρ/√L) = −s
L^(−L/2), so that R' = s L^(1−L/2) R^(L−1). The paper takes L0(ρ/√L) = −s: its rate is L s, too fast
by the factor L^(L/2). The functions whose names start with `printed` follow the paper; the others
are right. All hold on the localized loss.
"""

import numpy as np


def growth_rate(speed: float, depth: int) -> float:
    """κ = s L^(1−L/2) in R' = κ R^(L−1). In q-time ln R grows at this rate."""
    return speed * depth ** (1 - depth / 2)


def printed_rate(speed: float, depth: int) -> float:
    """L s, which stands for κ in Proposition 2.2 as printed."""
    return depth * speed


def norm_after(time, start: float, rate: float, depth: int) -> np.ndarray:
    """R(t) from R(0) = `start`: (R₀^(2−L) − (L−2) κ t)^(1/(2−L)), or R₀ e^{κt} for L = 2; infinite
    past the blow-up."""
    time = np.asarray(time, float)
    if depth == 2:
        return start * np.exp(rate * time)
    left = start ** (2.0 - depth) - (depth - 2) * rate * time
    return np.where(left > 0, np.maximum(left, 1e-300) ** (1 / (2.0 - depth)), np.inf)


def time_to_norm(end: float, start: float, rate: float, depth: int) -> float:
    """When R grows from `start` to `end`; an infinite end gives the blow-up time. Negative where it
    is below `start`."""
    if depth == 2:
        return float(np.log(end / start) / rate)
    return float((start ** (2.0 - depth) - np.power(float(end), 2.0 - depth)) / ((depth - 2) * rate))


def norm_at_outputs(size: float, largest: float, depth: int) -> float:
    """R at which ‖Y‖_F = `size`, if ‖Y‖_F = (R/√L)^L · `largest`.

    Along ρ equality holds with ‖Y_ρ‖_F. With ‖X‖_F it is the least norm that any net needs.
    """
    return float(np.sqrt(depth) * (size / largest) ** (1 / depth))


def first_time(size: float, start: float, speed: float, largest: float, depth: int) -> float:
    """t₁(r): with ‖Y_ρ‖_F the time itself along ρ; with ‖X‖_F a lower bound; with s* as well, one
    for every start."""
    end = norm_at_outputs(size, largest, depth)
    return time_to_norm(end, start, growth_rate(speed, depth), depth)


def printed_first_time(size: float, start: float, speed: float, depth: int) -> float:
    """The bound on t₁(r) as printed: without ‖X‖_F, and with the rate L s. It is not a lower
    bound."""
    return time_to_norm(norm_at_outputs(size, 1.0, depth), start, printed_rate(speed, depth), depth)
