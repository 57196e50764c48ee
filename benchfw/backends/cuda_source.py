"""The CUDA text of random words and of normals, equal to the last bit to what the host makes."""

from __future__ import annotations

from benchfw.backends.precisions import HALF_PI, LN2_HIGH, LN2_LOW, SINGLE, Precision

# Philox-4x64-10 (Salmon et al. 2011); a thread makes the four words of one counter; y numbers blocks
PHILOX = r"""
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
