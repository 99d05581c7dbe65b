"""What `saddlescope stages` tells a user who may want other options."""

import re

import numpy as np

from saddlescope.errors import number_of
from saddlescope.stages import Curve
from saddlescope.stages.find import FEW
from saddlescope.stages.logs.choice import LOSS_WORDS

SHARES = ("acc", "accuracy", "auc", "auroc", "f1", "precision", "recall", "iou", "dice", "r2")
BETTER_HIGH = frozenset([*SHARES, "score", "bleu", "rouge", "reward", "return"])
TENTHS = 10  # parts of a curve, the first and the last of which are compared


def hints(curve: Curve, up: bool, smooth: float | None) -> tuple[str, ...]:
    """One sentence for each choice that may not be what was meant."""
    found = [_direction(curve, up), _noise(curve, smooth)]
    return tuple(sentence for sentence in found if sentence)


def _direction(curve, up):
    change = _overall_change(curve.loss)
    if up:
        lower = f"{curve.name} ends lower than it begins: leave out --up if lower is better."
        return lower if change < 0 else ""
    if _is_better_high(curve.name):
        return f"{curve.name} sounds like a curve that should rise: add --up to find its steps up."
    higher = f"{curve.name} ends higher than it begins: add --up if higher is better."
    return higher if change > 0 else ""


def _is_better_high(name):
    """By the words of a name: val_acc, F1, eval/rouge1."""
    words = set(re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))
    words |= {word.rstrip("0123456789") for word in words}
    return bool(words & BETTER_HIGH) and not words & set(LOSS_WORDS)


def _overall_change(values):
    """1 or -1 where a curve ends above or below its beginning by half of what it moves at all."""
    values = values[np.isfinite(values)]
    means = [part.mean() for part in np.array_split(values, min(TENTHS, len(values)))]
    change = means[-1] - means[0]
    return int(np.sign(change)) if abs(change) > 0.5 * np.ptp(means) else 0


def _noise(curve, smooth):
    """Why noise was not looked for."""
    points = int(np.isfinite(curve.loss).sum())
    if smooth is not None:
        return "With --smooth, noise is not looked for: it may give false drops."
    if points < FEW:
        only = number_of(points, "point")
        return f"Only {only}: noise is not looked for below {FEW} points, and may give false drops."
    return ""
