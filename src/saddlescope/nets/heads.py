"""Attention heads that predict y of the last token from all tokens (simplicity paper, Eq. 2 and 69).

The input is X, (D + 1) × (N + 1), row by row in one long row: N tokens (x_n, y_n) and the query (x_q, 0). The paper's
prediction is entry (D + 1, N + 1) of X + Σ_i V_i X Xᵀ K_iᵀ Q_i X / N. (It has no 1/N, without which its learning rate
is unstable.) Only the last row of V_i and the first D columns of Q_i matter to that entry, so only those are here:
u = (K, Q) and v ∈ R^{D+1}.
"""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import require
from saddlescope.nets.unit import Unit
from saddlescope.serialization.part import as_int


def tokens(x, dimension):
    """sample × (D + 1) × (N + 1)."""
    return x.reshape(len(x), dimension + 1, -1)


def context_and_query(x, dimension):
    """X Xᵀ / N of every sample, and its query x_q."""
    X = tokens(x, dimension)
    return jnp.einsum("san,sbn->sab", X, X) / (X.shape[2] - 1), X[:, :dimension, -1]


def check_head(head, inputs, outputs):
    require(outputs == 1, f"A head predicts one number here, but the task has {outputs} outputs.")
    require(
        inputs % (head.dimension + 1) == 0 and inputs > head.dimension + 1,
        f"A head of dimension {head.dimension} reads tokens of {head.dimension + 1} numbers, two or more, but the task "
        f"has {inputs} inputs: use InContextRegression.",
    )


def check_positive(**numbers):
    for name, n in numbers.items():
        require(isinstance(n, int) and n > 0, f"`{name}` must be a positive whole number; got {n}.")


@final
class LinearHead(Unit):
    """φ(X; K, Q) = (X Xᵀ / N) Kᵀ Q x_q, a row of D + 1. Quadratic in u; f = W z(X) with z = (X Xᵀ / N) ⊗ x_q."""

    dimension: int = eqx.field(static=True, converter=as_int)
    rank: int = eqx.field(default=1, static=True, converter=as_int)

    def __check_init__(self):
        check_positive(dimension=self.dimension, rank=self.rank)

    def sizes(self, inputs, outputs):
        check_head(self, inputs, outputs)
        return self.rank * (2 * self.dimension + 1), self.dimension + 1

    def key_query(self, u):
        """K, unit × rank × (D + 1), and Q, unit × rank × D."""
        keys = self.rank * (self.dimension + 1)
        shape = (len(u), self.rank, -1)
        return u[:, :keys].reshape(shape), u[:, keys:].reshape(shape)

    def __call__(self, x, u):
        S, q = context_and_query(x, self.dimension)
        return jnp.einsum("sab,irb,ird,sd->sia", S, *self.key_query(u), q)

    def features(self, x):
        return outer_features(x, self.dimension)

    def maps(self, u, features):
        return of_every_row(jnp.einsum("irb,ird->ibd", *self.key_query(u)))


@final
class MergedHead(Unit):
    """φ(X; U) = (X Xᵀ / N) U x_q: key and query merged into one matrix, so that φ is linear in u (Section 7)."""

    dimension: int = eqx.field(static=True, converter=as_int)

    def __check_init__(self):
        check_positive(dimension=self.dimension)

    def sizes(self, inputs, outputs):
        check_head(self, inputs, outputs)
        return (self.dimension + 1) * self.dimension, self.dimension + 1

    def matrix(self, u):
        return u.reshape(len(u), self.dimension + 1, self.dimension)

    def __call__(self, x, u):
        S, q = context_and_query(x, self.dimension)
        return jnp.einsum("sab,ibd,sd->sia", S, self.matrix(u), q)

    def features(self, x):
        return outer_features(x, self.dimension)

    def maps(self, u, features):
        return of_every_row(self.matrix(u))


@final
class SoftmaxHead(Unit):
    """φ(X; K, Q) = Σ_n softmax_n(x_qᵀ Qᵀ K X)_n X_n, the mean token at zero weights (Fig. 4A)."""

    dimension: int = eqx.field(static=True, converter=as_int)

    def __check_init__(self):
        check_positive(dimension=self.dimension)

    def sizes(self, inputs, outputs):
        check_head(self, inputs, outputs)
        return 2 * self.dimension + 1, self.dimension + 1

    def __call__(self, x, u):
        X = tokens(x, self.dimension)
        K, Q = u[:, : self.dimension + 1], u[:, self.dimension + 1 :]
        scores = jnp.einsum("ia,san->sin", K, X) * (X[:, : self.dimension, -1] @ Q.T)[:, :, None]
        return jnp.einsum("sin,san->sia", jax.nn.softmax(scores, axis=-1), X)


def of_every_row(KQ):
    """φ_a = Σ_bd S_ab (KᵀQ)_bd q_d as maps of the features S ⊗ q, unit × (D + 1) × feature."""
    eye = jnp.eye(KQ.shape[1], dtype=KQ.dtype)
    return jnp.einsum("ac,ibd->iacbd", eye, KQ).reshape(len(KQ), len(eye), -1)


def outer_features(x, dimension):
    S, q = context_and_query(x, dimension)
    return jnp.einsum("sab,sd->sabd", S, q).reshape(len(x), -1)
