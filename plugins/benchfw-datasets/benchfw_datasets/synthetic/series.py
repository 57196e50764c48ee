"""Time series."""

from __future__ import annotations

import numpy as np

from benchfw import BenchfwError, Count
from benchfw_datasets.synthetic.draws import Array, open_stream, squash


def sound_like(
    samples: Count = 60_000, held_out: Count = 691, gaps: Count = 56, seed: int = 0
) -> dict[str, Array]:
    """Return y, the bit mask `test`, n and hyperparameters like the sound: an oscillation with gaps."""
    if not 4 * held_out <= samples or gaps > held_out:
        raise BenchfwError("held_out must be at most a quarter of the samples, and at least one a gap")
    rng = open_stream(seed)
    radius, cosine = 0.98, 0.95  # a resonance: the poles of the recursion
    wave = _recursion(rng.standard_normal(samples), 2 * radius * cosine, -radius * radius)
    wave = 0.07 * wave / np.sqrt(np.cumsum(wave * wave)[-1] / samples)
    lengths = np.full(gaps, held_out // gaps) + (np.arange(gaps) < held_out % gaps)
    room = samples // gaps
    starts = np.arange(gaps) * room + rng.integers(0, max(1, room - int(lengths.max())), size=gaps)
    mask = np.zeros(samples, dtype=bool)
    for start, length in zip(starts, lengths, strict=True):
        mask[start : start + length] = True
    return {
        "y": wave.astype(np.float32),
        "test": np.packbits(mask),
        "n": np.array(samples, dtype=np.int64),
        "hyp_ell_sf_sn": np.array([10.0, 0.07, 0.0085]),
    }


def weather_like(hours: Count = 96_453, seed: int = 0) -> dict[str, Array]:
    """Return the columns of szeged-weather: seasons, days, slow weather and noise."""
    rng = open_stream(seed)
    time = np.arange(hours)
    day, year = _wave(time, 24), _wave(time, 24 * 365.25)

    def slow(memory: float) -> Array:
        fresh = float(np.sqrt(1 - memory * memory))
        return _recursion(fresh * rng.standard_normal(hours), memory)

    front = slow(0.98)
    temperature = 12 + 11 * year + 4 * day + 4 * front
    humidity = squash(1.2 - 1.5 * day - 0.8 * year + 0.8 * slow(0.95), 0.0, 1.0)
    wet = front + slow(0.9) < -1.2
    columns = {
        "temp_c": temperature,
        "apparent_c": temperature - 2 * np.abs(slow(0.9)),
        "humidity": np.rint(100 * humidity) / 100,
        "wind_kmh": 11 + 7 * np.abs(slow(0.9)),
        "bearing_deg": np.floor(squash(slow(0.97), 0, 360)),
        "visibility_km": squash(slow(0.95) + 0.5, 0, 16),
        "pressure_mb": 1016 + 8 * slow(0.995),
    }
    return {
        "unix_time": (1_136_070_000 + 3600 * time).astype(np.int32),
        "precip": np.where(wet, np.where(temperature < 0, 2, 1), 0).astype(np.int8),
        **{name: values.astype(np.float32) for name, values in columns.items()},
    }


def _recursion(noise: Array, first: float, second: float = 0.0) -> Array:
    """Return y_t = noise_t + first y_{t-1} + second y_{t-2}; in Python: compiled filters may fuse + and x."""
    values = []
    last = before = 0.0
    for each in noise.tolist():
        last, before = each + first * last + second * before, last
        values.append(last)
    return np.array(values)


def _wave(time: Array, period: float) -> Array:
    """Return a round wave between -1 and 1 made of parabolas: like a sine, with no library's last bit."""
    phase = (time / period) % 1.0 * 2 - 1
    return np.asarray(4 * phase * (1 - np.abs(phase)))
