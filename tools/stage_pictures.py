"""Draw docs/stages.png: six made curves with the stages that are found in them.

python tools/stage_pictures.py
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from saddlescope.stages import find_stages

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from staircases import as_logged, staircase, wandering  # type: ignore[import-not-found]  # noqa: E402

T = np.arange(3000.0)
STEPS = staircase(T, [700, 1500, 2300], [4, 2, 1, 0.4], 12)


def curves(rng):
    """Name → loss."""
    wander = wandering(rng, 0.9, len(T))
    noisy = STEPS * (1 + 0.1 * rng.standard_normal(len(T)))
    spiked = STEPS * (1 + 0.05 * rng.standard_normal(len(T)))
    spiked[rng.choice(len(T), 15, replace=False)] *= 3
    return {
        "correlated noise (AR 0.9, 10 %)": STEPS * (1 + 0.1 * wander),
        "10 % noise, smoothed by a logger (EMA 0.98)": as_logged(noisy, 0.98),
        "15 spikes in 5 % noise": spiked,
        "rounded to 2 decimals": np.round(STEPS / 2, 2),
        "power law, 5 % noise: no drop": 4 * (1 + T / 30) ** -0.5 * (1 + 0.05 * rng.standard_normal(len(T))),
        "a loss that rises, then a drop": (3.1 + 2.5 * np.exp(-(((T - 900) / 250) ** 2))
                                           - 2.6 / (1 + np.exp(-(T - 2200) / 30))),
    }  # fmt: skip


def main():
    figure, axes = plt.subplots(3, 2, figsize=(10, 9), constrained_layout=True)
    for letter, ax, (name, loss) in zip("ABCDEF", axes.flat, curves(np.random.default_rng(0)).items(), strict=True):
        found = find_stages(loss)
        ax.plot(T, loss, color="0.45", lw=0.7)
        found.draw(ax)
        ax.set(title=f"{letter}  {name}", xlabel="step", ylabel="loss", yscale="log")
        ax.legend(
            fontsize=7,
            loc="upper right",
            title=f"{found.n_drops} drop{'s' * (found.n_drops != 1)} found",
            title_fontsize=7,
        )
    figure.savefig(ROOT / "docs" / "stages.png", dpi=150)


if __name__ == "__main__":
    main()
