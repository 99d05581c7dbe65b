"""Nearest coordinates under a constraint on their product."""

import numpy as np
import scipy  # its parts are imported when first used


def onto_product(F, G, product, rounds=100):
    """The nearest coordinates F, G (unit × direction) with Fᵀ G = product.

    It takes steps of least length onto the tangent of the constraint, which is the nearest point to second order, and
    from there solves for the nearest point itself. Where that finds none, it stays with the steps.
    """
    if not product.size:
        return F, G
    near = _by_steps(F, G, product, rounds)
    first = np.linalg.lstsq(near[0], near[1] - G, rcond=None)[0]
    exact = [_by_multiplier(F, G, product, start) for start in (first, first / 2, 0 * first)]
    return min((near, *(e for e in exact if e)), key=lambda found: _off(found, F, G))


def _by_steps(F, G, product, rounds):
    """Each step solves Fᵀ δG + δFᵀ G = product - Fᵀ G with the smallest |δF|² + |δG|²."""
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


def _by_multiplier(F, G, product, start):
    """At the nearest point F' = F + G' Λᵀ and G' = G + F' Λ; Λ such that the product is met. None without one."""

    def moved(flat):
        L = flat.reshape(product.shape)
        one, other = np.eye(len(L)) - L @ L.T, np.eye(L.shape[1]) - L.T @ L
        return np.linalg.lstsq(one.T, (F + G @ L.T).T, rcond=None)[0].T, np.linalg.lstsq(
            other.T, (G + F @ L).T, rcond=None
        )[0].T

    def missed(flat):
        f, g = moved(flat)
        return (f.T @ g - product).ravel()

    found = scipy.optimize.root(missed, start.ravel(), tol=1e-14)
    return moved(found.x) if np.abs(missed(found.x)).max() <= 1e-12 * np.abs(product).max() else None


def _off(found, F, G):
    return np.sum((found[0] - F) ** 2) + np.sum((found[1] - G) ** 2)
