"""CuPy on an NVIDIA GPU; the only file of the core that imports cupy, and only inside functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

import numpy as np

from benchfw.backends.backend import Backend
from benchfw.backends.normals import HALF_PI, LN2_HIGH, LN2_LOW, SINGLE, Precision
from benchfw.errors import BackendUnavailable

_THREADS = 256
_GRID_ROWS = 65_535  # CUDA's limit

# Philox-4x64-10 (Salmon et al. 2011); a thread makes the four words of one counter; y numbers blocks
_PHILOX = r"""
typedef unsigned long long word;
extern "C" __global__ void philox_words(
    const word seed, const word stream, const word block, const word start, const word count, word* out)
{
    const word group = start / 4 + (word)blockIdx.x * blockDim.x + threadIdx.x;
    word c0 = group + 1, c1 = block + blockIdx.y, c2 = 0, c3 = 0, k0 = seed, k1 = stream;
    for (int round = 0; round < 10; ++round) {
        const word high0 = __umul64hi(0xD2E7470EE14C6C93ull, c0), low0 = 0xD2E7470EE14C6C93ull * c0;
        const word high1 = __umul64hi(0xCA5A826395121157ull, c2), low1 = 0xCA5A826395121157ull * c2;
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B97F4A7C15ull;
        k1 += 0xBB67AE8584CAA73Bull;
    }
    const word result[4] = {c0, c1, c2, c3};
    for (int lane = 0; lane < 4; ++lane) {
        const word position = 4 * group + lane;
        if (position < start || position - start >= count) continue;
        out[blockIdx.y * count + position - start] = result[lane];
    }
}
"""

# normals.py operation by operation; `real` is the type of the polynomials, `bits` its signed integer
_BOX_MULLER = r"""
typedef unsigned long long word;
__device__ __forceinline__ real polynomial(const real x, const real* coefficients, const int degree)
{
    real total = x * coefficients[degree];
    #pragma unroll
    for (int power = degree - 1; power > 0; --power) {
        total = total + coefficients[power];
        total = total * x;
    }
    return total + coefficients[0];
}
extern "C" __global__ void box_muller(const word* words, const word pairs, real* out)
{
    const real log_terms[] = {LOG_TERMS};
    const real sine_terms[] = {SINE_TERMS};
    const real cosine_terms[] = {COSINE_TERMS};
    const word pair = (word)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;

    const real uniform = (real)(NUMERATOR * 2 + 1) * (real)UNIFORM_SCALE;
    const bits shifted = TO_BITS(uniform) - OFFSET;
    const double exponent = (double)(shifted >> MANTISSA_BITS);
    const real t = FROM_BITS((shifted & ((((bits)1) << MANTISSA_BITS) - 1)) + OFFSET) - (real)1;
    const real series = polynomial(LOG_VARIABLE(t), log_terms, LOG_DEGREE);
    const double total = log_of_mantissa(t, series, exponent) + exponent * LN2_HIGH;
    const double radius = __dsqrt_rn(total * -2.0);

    const bits angle = (bits)(ANGLE);
    const bits quadrant = (angle + (((bits)1) << (QUADRANT_BITS - 1))) >> QUADRANT_BITS;
    const real z = (real)(angle - (quadrant << QUADRANT_BITS)) * (real)ANGLE_SCALE;
    const real square = z * z;
    double sine = (double)(polynomial(square, sine_terms, SINE_DEGREE) * square * z);
    sine = sine + (double)z * HALF_PI;
    const double cosine = (double)(polynomial(square, cosine_terms, COSINE_DEGREE) * square) + 1.0;
    const double cosine_sign = (double)(1 - ((quadrant + 1) & 2));
    const double sine_sign = (double)(1 - (quadrant & 2));
    out[2 * pair] = (real)(radius * ((quadrant & 1 ? sine : cosine) * cosine_sign));
    out[2 * pair + 1] = (real)(radius * ((quadrant & 1 ? cosine : sine) * sine_sign));
}
"""

_SINGLE_HEAD = r"""
typedef float real;
typedef int bits;
#define TO_BITS __float_as_int
#define FROM_BITS __int_as_float
#define NUMERATOR ((words[pair] >> 9) & 0x7FFFFF)
#define ANGLE (words[pair] >> 40)
#define LOG_VARIABLE(t) (t)
__device__ double log_of_mantissa(const float t, const float series, const double)
{
    const float square = t * t;
    return (double)(series * t * square - square * 0.5f + t);
}
"""

_DOUBLE_HEAD = r"""
typedef double real;
typedef long long bits;
#define TO_BITS __double_as_longlong
#define FROM_BITS __longlong_as_double
#define NUMERATOR (words[2 * pair] >> 12)
#define ANGLE (words[2 * pair + 1] >> 11)
#define LOG_VARIABLE(t) (__ddiv_rn(t, t + 2.0) * __ddiv_rn(t, t + 2.0))
__device__ double log_of_mantissa(const double t, const double series, const double exponent)
{
    const double s = __ddiv_rn(t, t + 2.0);
    return (series * (s * s) * s + exponent * LN2_LOW) + (s + s);
}
"""


def box_muller_source(precision: Precision) -> str:
    """Return the CUDA source of `box_muller` with the constants of `normals.py` written into it."""
    single = precision is SINGLE
    suffix = "f" if single else ""  # the digits name a float exactly, so that reading them back loses nothing
    definitions: dict[str, object] = {
        "OFFSET": f"((bits){precision.offset})",
        "MANTISSA_BITS": precision.mantissa_bits,
        "UNIFORM_SCALE": 2.0 ** -(precision.mantissa_bits + 1),
        "QUADRANT_BITS": precision.angle_bits - 2,
        "ANGLE_SCALE": 2.0 ** (2 - precision.angle_bits),
        "LN2_HIGH": LN2_HIGH,
        "LN2_LOW": LN2_LOW,
        "HALF_PI": HALF_PI,
    }
    for name, terms in (("LOG", precision.log), ("SINE", precision.sine), ("COSINE", precision.cosine)):
        definitions[f"{name}_TERMS"] = ", ".join(f"{term!r}{suffix}" for term in terms)
        definitions[f"{name}_DEGREE"] = len(terms) - 1
    lines = [f"#define {name} {value}" for name, value in definitions.items()]
    return "\n".join([*lines, _SINGLE_HEAD if single else _DOUBLE_HEAD, _BOX_MULLER])


@cache
def _philox_kernel() -> Any:
    import cupy

    return cupy.RawKernel(_PHILOX, "philox_words")


@cache
def _box_muller_kernel(precision: Precision) -> Any:
    import cupy

    # contraction of a * b + c into one rounding would change a third of the results
    return cupy.RawKernel(box_muller_source(precision), "box_muller", options=("--fmad=false",))


def fused_box_muller(words: Any, precision: Precision) -> Any:
    """Return `normals.box_muller` of CuPy words, in one kernel and equal to the last bit."""
    import cupy

    words = cupy.ascontiguousarray(words)
    pairs = words.shape[0] // (1 if precision is SINGLE else 2)
    normals = cupy.empty(2 * pairs, dtype=precision.floating)
    if pairs:
        blocks = (pairs + _THREADS - 1) // _THREADS
        _box_muller_kernel(precision)((blocks,), (_THREADS,), (words, np.uint64(pairs), normals))
    return normals


def _unavailable(what: str, fault: BaseException | None = None) -> NoReturn:
    # cupy's messages run over many lines of advice; the first one names the fault
    lines = str(fault).strip().splitlines() or [type(fault).__name__]
    reason = f"{what} ({lines[0].strip()})" if fault else what
    raise BackendUnavailable(f"cupy is not available: {reason}; install benchfw[cuda12] or benchfw[cuda13]")


def open_cupy() -> Backend:
    """Return the CuPy backend after one draw on its device; BackendUnavailable says what is missing."""
    try:
        import cupy
    except (ImportError, OSError) as fault:
        if isinstance(fault, ModuleNotFoundError) and fault.name == "cupy":
            _unavailable("the package is not installed")
        _unavailable("the package is installed but cannot be imported", fault)
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
    except RuntimeError as fault:
        # CUDA's own words tell a missing driver from a missing GPU and from a driver that is too old
        _unavailable("the package is installed but finds no driver or GPU that it can use", fault)
    if not devices:
        _unavailable("the package is installed but there is no GPU")
    backend = CupyBackend()
    try:
        backend.bits(0, 0, 0, 0, 1)
        backend.synchronize()
    except (RuntimeError, OSError, ImportError, cupy.cuda.compiler.CompileException) as fault:
        _unavailable("the package is installed but cannot run a kernel; was it built for this CUDA?", fault)
    return backend


def _version(number: int) -> str:
    """Return CUDA's version number, 12040, as it is written, 12.4."""
    return f"{number // 1000}.{number % 1000 // 10}"


class CupyBackend(Backend):
    """Arrays in the memory of the current CUDA device."""

    name = "cupy"

    def __init__(self) -> None:
        import cupy

        self.xp = cupy

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Return the values as a CuPy array; host arrays are copied to the device."""
        return self.xp.asarray(values, dtype=dtype)

    def to_numpy(self, values: Any) -> np.ndarray:
        """Return a copy of the array on the host."""
        host: np.ndarray = self.xp.asnumpy(values)
        return host

    def bits(self, seed: int, stream: int, block: int, start: int, count: int) -> Any:
        """Return words start … start+count-1 of a block of the stream (seed, stream), as uint64."""
        return self._bits(seed, stream, block, 1, start, count)[0]

    def bits_of_blocks(self, seed: int, stream: int, first: int, blocks: int, count: int) -> Any:
        """Return the first `count` words of each of so many successive blocks: (blocks, count) uint64."""
        pieces = [
            self._bits(seed, stream, first + start, min(_GRID_ROWS, blocks - start), 0, count)
            for start in range(0, max(blocks, 1), _GRID_ROWS)
        ]
        return pieces[0] if len(pieces) == 1 else self.xp.concatenate(pieces)

    def _bits(self, seed: int, stream: int, first: int, blocks: int, start: int, count: int) -> Any:
        words = self.xp.empty((blocks, count), dtype=np.uint64)
        if words.size:
            address = tuple(map(np.uint64, (seed, stream, first, start, count)))
            groups = (start % 4 + count + 3) // 4
            grid = ((groups + _THREADS - 1) // _THREADS, blocks)
            _philox_kernel()(grid, (_THREADS,), (*address, words))
        return words

    def synchronize(self) -> None:
        """Wait until the current device has finished all work handed to it."""
        self.xp.cuda.Device().synchronize()

    def memory(self) -> int:
        """Return the bytes that the memory pool holds: it gives none back, so this is the peak so far."""
        return int(self.xp.get_default_memory_pool().total_bytes())

    def stopwatch(self) -> Callable[[], float]:
        """Record an event in the current stream; the call that stops records another and waits for it."""
        cuda = self.xp.cuda
        start, end = cuda.Event(), cuda.Event()
        start.record()

        def stop() -> float:
            end.record()
            end.synchronize()
            return float(cuda.get_elapsed_time(start, end)) / 1e3

        return stop

    def peak_during(self, call: Callable[[], Any]) -> int:
        """Make the call; return the most bytes of the memory pool in use at once, beyond those before."""
        pool = self.xp.get_default_memory_pool()
        before = int(pool.used_bytes())
        peak = before

        class Watch(self.xp.cuda.MemoryHook):  # type: ignore[misc, name-defined]
            """Looks after every allocation: the pool itself remembers no peak."""

            name = "benchfw_peak"

            def malloc_postprocess(self, **_: Any) -> None:
                nonlocal peak
                peak = max(peak, int(pool.used_bytes()))

        with Watch():
            call()
        return peak - before

    def describe(self) -> Mapping[str, str]:
        """Return the GPU's name and the versions of CuPy, the CUDA runtime and the driver."""
        runtime = self.xp.cuda.runtime
        name = runtime.getDeviceProperties(self.xp.cuda.Device().id)["name"]
        return {
            "device": name.decode() if isinstance(name, bytes) else str(name),
            "cupy": str(self.xp.__version__),
            "numpy": np.__version__,
            "cuda_runtime": _version(runtime.runtimeGetVersion()),
            "cuda_driver": _version(runtime.driverGetVersion()),
        }
