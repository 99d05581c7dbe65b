"""How symmetric the channels of a run are, from what `SymmetryDefect` observed."""

import numpy as np

from saddlescope.results import Run


def odd_shares(run: Run, at: int = -1) -> np.ndarray:
    """The odd part's share of energy, mean over the channels of each hidden block, at one of the saved instants."""
    blocks = [k for k in range(100) if f"symmetry_defect_{k}" in run]
    return np.array([float(np.mean(run[f"symmetry_defect_{k}"].values[at])) for k in blocks[:-1]])


def mean_odd_share(run: Run, at: int = -1) -> float:
    """The same, mean over the second half of the hidden blocks."""
    shares = odd_shares(run, at)
    return float(shares[len(shares) // 2 :].mean())
