"""Units in groups: around centres, or along rays from the origin."""

import numpy as np
import scipy  # its parts are imported when first used


def nearest_centres(rows, width, mirrored=False, rounds=50):
    """Which centre each row belongs to, on which side, and the centres.

    Starts are greedy and farthest, then come Lloyd's rounds. With `mirrored` a row may also lie at
    minus a centre: its side is then -1, else 1.
    """
    centre = [rows[np.argmax((rows**2).sum(1))]]
    while len(centre) < width:
        gap = np.min([((rows - sides(rows @ c, mirrored)[:, None] * c) ** 2).sum(1) for c in centre], axis=0)
        centre.append(rows[np.argmax(gap)])
    centre = np.array(centre)
    for _ in range(rounds):
        along = rows @ centre.T
        side = sides(along, mirrored)
        group = np.argmin((centre**2).sum(1) - 2 * side * along, axis=1)  # |row ∓ centre|², less |row|²
        side = side[np.arange(len(rows)), group]
        folded = side[:, None] * rows
        moved = np.array([folded[group == k].mean(0) if np.any(group == k) else c for k, c in enumerate(centre)])
        if np.array_equal(moved, centre):
            break
        centre = moved
    return group, side, centre


def nearest_rays(rows, width, mirrored=False, rounds=50):
    """Which ray each row belongs to, its length along it, and the rays' directions.

    A length is not below 0 unless `mirrored`, where a ray continues behind the origin. Starts are
    greedy and farthest, then come Lloyd's rounds.
    """
    size = (rows**2).sum(1)
    ahead = np.abs if mirrored else lambda along: np.maximum(along, 0)
    ray = [unit(rows[np.argmax(size)])]
    while len(ray) < width:
        left = np.min([size - ahead(rows @ r) ** 2 for r in ray], axis=0)
        ray.append(unit(rows[np.argmax(left)]))
    ray = np.array(ray)
    for _ in range(rounds):
        along = rows @ ray.T
        folded, group = (
            sides(along, mirrored),
            np.argmax(np.abs(along) if mirrored else along, axis=1),
        )
        moved = np.array([_top_direction(folded[group == k, k, None] * rows[group == k], r) for k, r in enumerate(ray)])
        if np.allclose(moved, ray, rtol=0, atol=1e-15):
            break
        ray = moved
    group = np.argmax(np.abs(rows @ ray.T) if mirrored else rows @ ray.T, axis=1)
    length = np.sum(rows * ray[group], axis=1)
    return group, length if mirrored else np.maximum(length, 0), ray


def sides(along, mirrored):
    return np.where(along < 0, -1.0, 1.0) if mirrored else np.ones_like(along)


def members(nearness, narrow):
    """The group of each row by its nearness to every centre, such that no centre is left without a member."""
    group = np.argmax(nearness, axis=1)
    rows, centres = scipy.optimize.linear_sum_assignment(-nearness) if len(nearness) >= narrow else ([], [])
    group[rows] = centres
    return group


def unit(row):
    n = np.linalg.norm(row)
    return row / n if n else row


def _top_direction(rows, before):
    """The direction with the largest sum of squared lengths, among rows that point along it."""
    ahead = rows[rows @ before > 0]
    if not len(ahead):
        return before
    direction = np.linalg.svd(ahead, full_matrices=False)[2][0]
    return direction if direction @ before > 0 else -direction
