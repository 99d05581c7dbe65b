"""The series in the logs under tests/logs, as formulas, so that every point is known.

They take only + - × ÷ of float64, so that every machine has the same bits. `tools/write_logs.py`
logs them with each tool.
"""

FIRST = range(80)
RESUMED = range(60, 120)  # resumed from step 60, though 79 had been reached


def loss(step: int) -> float:
    return 1 / (1 + step / 7) + (step % 5) / 97


def resumed_loss(step: int) -> float:
    """Differs from `loss`, so that the two values of a repeated step can be told apart."""
    return loss(step) + 1 / 1024


def accuracy(step: int) -> float:
    return 1 - loss(step) / 3
