"""Units in groups: around centres, or along rays from the origin. Greedy farthest starts, then Lloyd's rounds."""

import numpy as np
from scipy.optimize import linear_sum_assignment


def nearest_centres(rows, width, rounds=50):
    """Which centre each row belongs to, and the centres."""
    centre = [rows[np.argmax((rows**2).sum(1))]]
    while len(centre) < width:
        gap = np.min([((rows - c) ** 2).sum(1) for c in centre], axis=0)
        centre.append(rows[np.argmax(gap)])
    centre = np.array(centre)
    for _ in range(rounds):
        group = np.argmin(((rows[:, None] - centre[None]) ** 2).sum(-1), axis=1)
        moved = np.array([rows[group == k].mean(0) if np.any(group == k) else c for k, c in enumerate(centre)])
        if np.array_equal(moved, centre):
            break
        centre = moved
    return group, centre


def nearest_rays(rows, width, rounds=50):
    """Which ray each row belongs to, its length along it (not below 0), and the rays' directions."""
    size = (rows**2).sum(1)
    ray = [unit(rows[np.argmax(size)])]
    while len(ray) < width:
        left = np.min([size - np.maximum(rows @ r, 0) ** 2 for r in ray], axis=0)
        ray.append(unit(rows[np.argmax(left)]))
    ray = np.array(ray)
    for _ in range(rounds):
        group = np.argmax(rows @ ray.T, axis=1)
        moved = np.array([top_direction(rows[group == k], r) for k, r in enumerate(ray)])
        if np.allclose(moved, ray, rtol=0, atol=1e-15):
            break
        ray = moved
    group = np.argmax(rows @ ray.T, axis=1)
    return group, np.maximum(np.sum(rows * ray[group], axis=1), 0), ray


def members(nearness, narrow):
    """The group of each row by its nearness to every centre, such that no centre is left without a member."""
    group = np.argmax(nearness, axis=1)
    rows, centres = linear_sum_assignment(-nearness) if len(nearness) >= narrow else ([], [])
    group[rows] = centres
    return group


def unit(row):
    n = np.linalg.norm(row)
    return row / n if n else row


def top_direction(rows, before):
    """The direction with the largest sum of squared lengths, among rows that point along it."""
    ahead = rows[rows @ before > 0]
    if not len(ahead):
        return before
    direction = np.linalg.svd(ahead, full_matrices=False)[2][0]
    return direction if direction @ before > 0 else -direction
