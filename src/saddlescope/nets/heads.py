"""Attention heads as units. The three share this file because they differ in one line each: how X
and x_q meet u."""

from typing import final

import equinox as eqx
import jax
import jax.numpy as jnp

from saddlescope.errors import require
from saddlescope.nets.unit import Unit
from saddlescope.serialization.part import as_int


def _tokens(x, dimension):
    """sample × (D + 1) × (N + 1)."""
    return x.reshape(len(x), dimension + 1, -1)


def context_and_query(x, dimension):
    """X Xᵀ / N of every sample, and its query x_q."""
    X = _tokens(x, dimension)
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
    """A linear attention head: φ(X; K, Q) = (X Xᵀ / N) Kᵀ Q x_q, a row of D + 1 numbers.

    The input is X of (D + 1) × (N + 1), flattened row by row: N tokens (x_n, y_n), and the query
    (x_q, 0). The net predicts y of the query. In the paper that is entry (D + 1, N + 1) of X + Σ_i
    V_i X Xᵀ K_iᵀ Q_i X. We divide by N, because the paper's learning rate is unstable without it.
    Only the last row of V_i and the first D columns of Q_i matter to that entry. So u = (K, Q) and
    v ∈ R^{D+1}.

    φ is quadratic in u. The net is linear in z = (X Xᵀ / N) ⊗ x_q and trains on its moments.
    Reference: simplicity paper, Eq. 2 and 69.

    **Arguments:**

    - `dimension`: D, the dimension of x.
    - `rank`: The number of rows of K and Q. The default 1 makes each of them one row.
    """

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
        return _of_every_row(jnp.einsum("irb,ird->ibd", *self.key_query(u)))


@final
class MergedHead(Unit):
    """A linear attention head whose key and query are one matrix: φ(X; U) = (X Xᵀ / N) U x_q.

    φ is linear in u, and the loss then drops only once. Input, output and moments are those of
    `LinearHead`. Reference: simplicity paper, Section 7.

    **Arguments:**

    - `dimension`: D, the dimension of x.
    """

    dimension: int = eqx.field(static=True, converter=as_int)

    def __check_init__(self):
        check_positive(dimension=self.dimension)

    def sizes(self, inputs, outputs):
        check_head(self, inputs, outputs)
        return (self.dimension + 1) * self.dimension, self.dimension + 1

    def matrix(self, u):
        """U of every unit, unit × (D + 1) × D."""
        return u.reshape(len(u), self.dimension + 1, self.dimension)

    def __call__(self, x, u):
        S, q = context_and_query(x, self.dimension)
        return jnp.einsum("sab,ibd,sd->sia", S, self.matrix(u), q)

    def features(self, x):
        return outer_features(x, self.dimension)

    def maps(self, u, features):
        return _of_every_row(self.matrix(u))


@final
class SoftmaxHead(Unit):
    """A softmax attention head: φ(X; K, Q) = Σ_n softmax_n(x_qᵀ Qᵀ K X)_n X_n, a row of D + 1
    numbers.

    At zero weights φ is the mean token, so the head is not silent. Input and output are those of
    `LinearHead`; there are no moments to train on. Reference: simplicity paper, Fig. 4A.

    **Arguments:**

    - `dimension`: D, the dimension of x.
    """

    dimension: int = eqx.field(static=True, converter=as_int)

    def __check_init__(self):
        check_positive(dimension=self.dimension)

    def sizes(self, inputs, outputs):
        check_head(self, inputs, outputs)
        return 2 * self.dimension + 1, self.dimension + 1

    def __call__(self, x, u):
        X = _tokens(x, self.dimension)
        K, Q = u[:, : self.dimension + 1], u[:, self.dimension + 1 :]
        scores = jnp.einsum("ia,san->sin", K, X) * (X[:, : self.dimension, -1] @ Q.T)[:, :, None]
        return jnp.einsum("sin,san->sia", jax.nn.softmax(scores, axis=-1), X)


def _of_every_row(KQ):
    """φ_a = Σ_bd S_ab (KᵀQ)_bd q_d as maps of the features S ⊗ q, unit × (D + 1) × feature."""
    eye = jnp.eye(KQ.shape[1], dtype=KQ.dtype)
    return jnp.einsum("ac,ibd->iacbd", eye, KQ).reshape(len(KQ), len(eye), -1)


def outer_features(x, dimension):
    S, q = context_and_query(x, dimension)
    return jnp.einsum("sab,sd->sabd", S, q).reshape(len(x), -1)
