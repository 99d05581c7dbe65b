"""What files of points have in common: a table of numbers, one row per point."""

from pathlib import Path

from saddlescope.errors import require


def require_table(shape: tuple[int, ...], path: Path):
    """Refuse what has no rows, or no column beside the last."""
    table = len(shape) == 2 and shape[0] >= 1 and shape[1] >= 2
    require(table, f"{path.name} must have one row per point: inputs, then y; its shape is {shape}.")


def is_number(cell: str) -> bool:
    """Whether a cell of a text file is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
