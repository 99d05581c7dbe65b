"""The cross-entropy of a softmax."""

from typing import final

import jax
import jax.numpy as jnp

from saddlescope.losses.loss import Loss


@final
class CrossEntropy(Loss):
    """L = −⟨Σ_c y_c log softmax(f(x))_c⟩, for targets y that are one-hot rows or probabilities.

    The outputs are logits, one per class. Escape paper, Section 1; at zero output its gradient is softmax(0) − y.
    """

    def why_not(self, task):
        if task.outputs < 2:
            return f"it needs one output per class, two or more; the task has {task.outputs}: give one-hot targets"
        return None

    def of_outputs(self, outputs, targets):
        return -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(outputs, axis=-1), axis=-1))
