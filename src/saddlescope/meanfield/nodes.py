"""The mean-field equations on nodes: a quadrature rule of the mixing law, random particles, or the neurons of a net.

With nodes c of weight ρ_c in every block above the first, and the first layer by its Γ,

    f¹ = f¹(0) − K Γ,                 ∂_t Γ_p = ξ₁ π_p g¹_p,
    fⁱ = Σ_c ρ_c w_i(c) φ(L_c·fⁱ⁻¹ + b_c),   ∂_t w_i(c) = −ξ_i Σ_p π_p φ(L_c·fⁱ⁻¹_p + b_c) gⁱ_p,
    g^J = ℓ'(ŷ − y),                  gⁱ⁻¹ = Σ_c ρ_c L_c φ'(L_c·fⁱ⁻¹ + b_c) (w_i(c)·gⁱ).

For a finite net K = ZᵀZ/n with its own features Z, and ρ = 1/n: the equations then are n times its gradient, exactly.
Nodes of weight 0 follow the limit without being part of it: that is how a net's own neurons are coupled to it.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saddlescope.errors import InvalidInput
from saddlescope.meanfield.residuals import Residual
from saddlescope.nets.activation import Activation

State = tuple[Float[Array, "point channel"], tuple[Float[Array, "node output"], ...]]


class Nodes(eqx.Module):
    """One block above the first.

    **Arguments:**

    - `mixing`: L and b, node × (input + 1).
    - `weights`: ρ, one per node.
    """

    mixing: Float[Array, "node input"]
    weights: Float[Array, " node"]


class NodeSystem(eqx.Module):
    """The equations above for one data set.

    **Arguments:**

    - `probabilities`: π, one per point; `targets`: point × output.
    - `kernel`, `first`: K and f¹(0) at the points.
    - `blocks`: the nodes of every block above the first.
    - `activation`, `residual`, `schedules`: φ, ℓ and ξ_i.
    """

    probabilities: Float[Array, " point"]
    targets: Float[Array, "point output"]
    kernel: Float[Array, "point point"]
    first: Float[Array, "point channel"]
    blocks: tuple[Nodes, ...]
    activation: Activation
    residual: Residual
    schedules: tuple[Callable, ...] = eqx.field(static=True)

    def __check_init__(self):
        for i, schedule in enumerate(self.schedules, 1):
            _check_traced(i, schedule)

    def channels(self, state: State) -> tuple[Array, ...]:
        """The outputs of every block at every point; the last are ŷ."""
        return self._forward(state)[0]

    def signals(self, state: State) -> tuple[Array, ...]:
        """g of every block."""
        return self._backward(state)[1]

    def slopes(self, state: State) -> Array:
        """∂ŷ_o/∂f¹_k at every point, point × output × channel: the paper's B_k."""
        _, fields = self._forward(state)
        ways = jnp.broadcast_to(jnp.eye(self.targets.shape[1]), (len(self.targets), *(self.targets.shape[1],) * 2))
        for (_, slope), nodes, w in reversed(list(zip(fields, self.blocks, state[1], strict=True))):
            through = jnp.einsum("pog,cg->poc", ways, w * nodes.weights[:, None]) * slope[:, None]
            ways = through @ nodes.mixing[:, :-1]
        return ways

    def loss(self, state: State) -> Array:
        """Σ π ℓ."""
        return self.probabilities @ self.residual.value(self.channels(state)[-1] - self.targets).sum(axis=1)

    def overlap(self, state: State) -> Array:
        """E yŷ = Σ π y·ŷ: how much of the target is in the output."""
        return self.probabilities @ (self.targets * self.channels(state)[-1]).sum(axis=1)

    def velocity(self, t, state: State, _=None) -> State:
        """∂_t of Γ and of every w."""
        fields, signals = self._backward(state)
        pi = self.probabilities[:, None]
        first, *rest = (xi(t) * pi * g for xi, g in zip(self.schedules, signals, strict=True))
        return first, tuple(-phi.T @ g for (phi, _), g in zip(fields, rest, strict=True))

    def _forward(self, state):
        gamma, weights = state
        f = self.first - self.kernel @ gamma
        channels, fields = [f], []
        for nodes, w in zip(self.blocks, weights, strict=True):
            phi, slope = value_and_slope(self.activation, f @ nodes.mixing[:, :-1].T + nodes.mixing[:, -1])
            f = phi @ (w * nodes.weights[:, None])
            channels.append(f)
            fields.append((phi, slope))
        return tuple(channels), fields

    def _backward(self, state):
        channels, fields = self._forward(state)
        g = self.residual.derivative(channels[-1] - self.targets)
        signals = [g]
        for (_, slope), nodes, w in reversed(list(zip(fields, self.blocks, state[1], strict=True))):
            g = (slope * (g @ (w * nodes.weights[:, None]).T)) @ nodes.mixing[:, :-1]
            signals.append(g)
        return fields, tuple(reversed(signals))


def _check_traced(block, schedule):
    try:
        jax.eval_shape(schedule, jnp.zeros(()))
    except (jax.errors.JAXTypeError, TypeError):
        raise InvalidInput(
            f"The schedule of block {block} must work on JAX numbers for nets, quadrature and particles: write it with "
            "jax.numpy, such as jnp.exp and jnp.where, without `if`, math or numpy."
        ) from None


def value_and_slope(activation: Activation, z: Array) -> tuple[Array, Array]:
    """φ(z) and φ'(z)."""
    return jax.jvp(activation, (z,), (jnp.ones_like(z),))
