"""Ratings."""

from __future__ import annotations

import numpy as np

from benchfw import BenchfwError, Count, NonNegative
from benchfw_datasets.synthetic.draws import Array, open_stream, popularity_weights


def movielens_like(
    users: Count = 943,
    items: Count = 1682,
    ratings: Count = 100_000,
    rank: Count = 5,
    noise: NonNegative = 0.7,
    seed: int = 0,
) -> dict[str, Array]:
    """Return user, item, rating, timestamp like MovieLens: 1 to 5 stars, low rank, few popular films.

    Types are those of movielens-100k and -1m, or of -10m where ids need more than 16 bits.
    """
    if 2 * ratings > users * items:
        raise BenchfwError(f"{ratings} ratings fill more than half of {users} x {items}")
    rng = open_stream(seed)
    cells = _cells(seed, users, items, ratings)
    user, item = np.divmod(cells, items)
    # the popular ones are not those with the lowest ids
    user, item = rng.permutation(users)[user], rng.permutation(items)[item]
    order = np.lexsort((item, user))
    user, item = user[order], item[order]
    score = 3.5 + 0.4 * rng.standard_normal(users)[user] + 0.4 * rng.standard_normal(items)[item]
    taste, trait = rng.standard_normal((rank, users)), rng.standard_normal((rank, items))
    for factor in range(rank):
        score += taste[factor][user] * trait[factor][item] * (0.5 / rank)
    score += noise * rng.standard_normal(ratings)
    wide = max(users, items) >= 1 << 15
    return {
        "user": (user + 1).astype(np.int32 if wide else np.int16),
        "item": (item + 1).astype(np.int32 if wide else np.int16),
        "rating": np.clip(np.rint(score), 1, 5).astype(np.float32 if wide else np.int8),
        "timestamp": (874_724_710 + rng.integers(0, 18_561_928, size=ratings)).astype(np.int32),
    }


def _cells(seed: int, users: int, items: int, ratings: int) -> Array:
    """Return different cells user * items + item, (ratings,): busy users and popular films first."""
    rng = open_stream(seed, 1)
    busy, liked = popularity_weights(users, 0.3 * users), popularity_weights(items, 0.05 * items + 1)
    found = np.empty(0, dtype=np.int64)
    while len(found) < ratings:
        wanted = ratings - len(found) + ratings // 4
        user, item = rng.choice(users, wanted, p=busy), rng.choice(items, wanted, p=liked)
        drawn = np.concatenate([found, user * items + item])
        _, first = np.unique(drawn, return_index=True)
        found = drawn[np.sort(first)]  # in the order of the draws: the first ones are kept
    return found[:ratings]
