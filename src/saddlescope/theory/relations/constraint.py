"""Nearest coordinates under a constraint on their product."""

import numpy as np


def onto_product(F, G, product, rounds=100):
    """The nearest coordinates F, G (unit × direction) with Fᵀ G = product.

    It takes steps of least length onto the tangent of the constraint. Each step solves Fᵀ δG + δFᵀ
    G = product - Fᵀ G with the smallest |δF|² + |δG|².
    """
    p, q = product.shape
    for _ in range(rounds):
        gap = product - F.T @ G
        if np.abs(gap).max() <= 1e-15 * np.abs(product).max():
            break
        # δG = F Λ, δF = G Λᵀ: then Fᵀ F Λ + Λ Gᵀ G = gap, a Sylvester equation in Λ.
        K = np.kron(F.T @ F, np.eye(q)) + np.kron(np.eye(p), G.T @ G)
        L = np.linalg.lstsq(K, gap.ravel(), rcond=None)[0].reshape(p, q)
        F, G = F + G @ L.T, G + F @ L
    return F, G
