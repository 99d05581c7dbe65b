"""The stages of a loss curve of your own, from any training loop: no setting, no net, no JAX.

    python own_loss_curve.py

On the command line, `saddlescope stages loss.csv` does the same for a file.
"""

import numpy as np

from saddlescope import find_stages

step = np.arange(3000)
loss = 0.1 + 2 / (1 + np.exp((step - 600) / 20)) + 0.9 / (1 + np.exp((step - 1900) / 40))
loss *= 1 + 0.05 * np.random.default_rng(0).standard_normal(step.size)  # minibatch noise

stages = find_stages(loss, step)
print(stages)
for drop in stages.drops:
    print(f"from {drop.before:.2f} to {drop.after:.2f}, fastest at step {drop.at:.0f}")
