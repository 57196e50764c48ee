"""Ratings."""

from __future__ import annotations

import numpy as np

from benchfw import BenchfwError, Count, NonNegative
from benchfw_datasets.synthetic.draws import Array, exponential, logarithm, open_stream

GROUPS = 12
LEAST_RATINGS = 20  # that a user of MovieLens has
MOST_OF_ITEMS = 0.8  # that a user may have rated
ROUNDS = 12  # of drawing again what a user has already; then come the most popular films


def movielens_like(
    users: Count = 943,
    items: Count = 1682,
    ratings: Count = 100_000,
    rank: Count = 12,
    noise: NonNegative = 0.88,
    seed: int = 0,
) -> dict[str, Array]:
    """Return user, item, rating, timestamp like MovieLens: 1 to 5 stars, busy users, popular films, groups.

    Popularity is χ² with one degree of freedom, activity 20 and such a number; users choose within groups of
    falling size. At the size of movielens-1m quantiles of ratings a film and a user, mean, spread and the ten
    largest singular values of the zero-filled ratings are within a fifth of the real ones; the thirtieth is a
    fifth smaller, and the least popular tenth of the films has half of the ratings of the real one.
    Types are those of movielens-100k and -1m, or of -10m where ids need more than 16 bits.
    """
    if 2 * ratings > users * items:
        raise BenchfwError(f"{ratings} ratings fill more than half of {users} x {items}")
    rng = open_stream(seed)
    popularity = np.maximum(rng.standard_normal(items) ** 2, 1e-3)
    user, item = np.divmod(np.sort(_cells(seed, popularity, users, ratings)), items)
    likes = logarithm(popularity)
    likes = (likes - likes.mean()) / (likes.std() or 1.0)
    score = 3.4 + 0.44 * rng.standard_normal(users)[user]
    score += (0.6 * rng.standard_normal(items) + 0.27 * likes)[item]
    sizes = 1 / np.sqrt(np.arange(1, rank + 1))
    sizes *= 0.45 / np.sqrt((sizes**2).sum())
    for size in sizes:
        score += size * rng.standard_normal(users)[user] * rng.standard_normal(items)[item]
    score += noise * rng.standard_normal(ratings)
    wide = max(users, items) >= 1 << 15
    return {
        "user": (user + 1).astype(np.int32 if wide else np.int16),
        "item": (item + 1).astype(np.int32 if wide else np.int16),
        "rating": np.clip(np.rint(score), 1, 5).astype(np.float32 if wide else np.int8),
        "timestamp": (874_724_710 + rng.integers(0, 18_561_928, size=ratings)).astype(np.int32),
    }


def _cells(seed: int, popularity: Array, users: int, ratings: int) -> Array:
    """Return different cells user * items + item, (ratings,)."""
    rng = open_stream(seed, 1)
    items = len(popularity)
    wanted = _activity(rng.standard_normal(users) ** 2, items, ratings)
    mixture = exponential(3.5 * rng.standard_normal((users, GROUPS)) - 0.5 * np.arange(GROUPS))
    mixture = np.cumsum(mixture, axis=1)
    mixture /= mixture[:, -1:]
    weights = np.cumsum(popularity * exponential(2.2 * rng.standard_normal((GROUPS, items))), axis=1)
    weights /= weights[:, -1:]
    found, missing, complete = np.empty(0, dtype=np.int64), wanted, list[Array]()
    for _ in range(ROUNDS):
        who = np.repeat(np.arange(users), np.where(missing > 0, missing + missing // 4 + 2, 0))
        chance = rng.random(len(who))
        group = np.zeros(len(who), dtype=np.int8)
        for each in range(GROUPS - 1):
            group += chance > mixture[who, each]
        chance, item = rng.random(len(who)), np.empty(len(who), dtype=np.int64)
        for each in range(GROUPS):
            inside = group == each
            item[inside] = np.searchsorted(weights[each], chance[inside])
        found = _first_of_each(
            np.concatenate([found, who * items + np.minimum(item, items - 1)]), items, wanted
        )
        missing = wanted - np.bincount(found // items, minlength=users)
        wanting = missing[found // items] > 0
        complete.append(found[~wanting])
        found, wanted = found[wanting], np.where(missing > 0, wanted, 0)
        if not missing.any():
            break
    return np.concatenate([*complete, found, *_most_popular(found, popularity, missing)])


def _activity(squares: Array, items: int, ratings: int) -> Array:
    """Return how many ratings each user has, at most four fifths of the items, `ratings` in all."""
    mean, most = ratings / len(squares), max(1, int(MOST_OF_ITEMS * items))
    least = min(LEAST_RATINGS, mean / 2)
    share = least + (mean - least) * squares
    counts = np.minimum(np.floor(share * (ratings / share.sum())), most).astype(np.int64)
    while (missing := ratings - int(counts.sum())) > 0:
        room = np.flatnonzero(counts < most)
        counts[room[np.argsort(-share[room], kind="stable")][:missing]] += 1
    return np.asarray(counts)


def _first_of_each(cells: Array, items: int, wanted: Array) -> Array:
    """Return different cells, the first `wanted` of each user."""
    cell, place = _sort_with_places(cells)
    cells = cells[np.sort(place[np.diff(cell, prepend=-1) > 0])]
    owner, place = _sort_with_places(cells // items)
    number = np.arange(len(cells)) - np.searchsorted(owner, np.arange(len(wanted)))[owner]
    return np.asarray(cells[place[number < wanted[owner]]])


def _sort_with_places(values: Array) -> tuple[Array, Array]:
    """Return whole numbers from 0 in order, and where each was; many times faster than a stable argsort.

    A number and its place share 63 bits; where they do not fit, it is that argsort.
    """
    bits = len(values).bit_length()
    if int(values.max(initial=0)).bit_length() + bits > 63:
        places = np.argsort(values, kind="stable")
        return values[places], places
    both = np.sort((values << bits) + np.arange(len(values)))
    return both >> bits, both & (1 << bits) - 1


def _most_popular(found: Array, popularity: Array, missing: Array) -> list[Array]:
    """Return the cells of the most popular items that users have not rated yet, as many as they miss."""
    items, cells = len(popularity), np.sort(found)
    ranked = np.argsort(-popularity, kind="stable")
    more = []
    for user in np.flatnonzero(missing):
        low, high = np.searchsorted(cells, [user * items, (user + 1) * items])
        rest = ranked[~np.isin(ranked, cells[low:high] - user * items)]
        more.append(user * items + rest[: missing[user]])
    return more
