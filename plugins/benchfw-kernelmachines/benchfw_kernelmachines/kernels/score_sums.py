"""cos(phases) A_0 + sin(phases) A_1 on a GPU, from phases that are in memory, without features that are.

A group of threads takes some rows and a piece of the frequencies, whose coefficients it reads once. In
float32 tensor cores add up, with products of halves as in halves.py.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

WARPS, GROUPS = 8, 264  # of a group of threads, and groups that fill a GPU
ROWS, MOST_PIECES = 256, 16  # of a group, and of the frequencies, which are cut where rows are few
MOST_OUTPUTS = 80  # whose sums a thread can hold
MANY_OUTPUTS = 32  # so many that it holds those of fewer rows
SHARED = 46_000  # bytes of coefficients that a group holds
TURNS = """
#define TURN 6.2831855f  // 2π in two parts
#define TURN_REST -1.7484556e-07f
"""

# A warp takes 16 rows TILES times, 16 frequencies at once: a thread has four of them, beside each other, of
# rows outer and outer + 8. They are columns inner and inner + 4 of the first product of tensor cores (two of
# the four), then of the second. Their sums are rounded towards 0, and added to others after TILE frequencies.
_SINGLE = r"""
__device__ __forceinline__ void split(float x, unsigned& large, unsigned& small)
{
    large = (__float_as_uint(x) + 0x1000) & 0xFFFFE000;  // the nearest of 11 bits
    small = __float_as_uint(x - __uint_as_float(large));
}

__device__ __forceinline__ void add_product(float* sums, const unsigned* rows, unsigned one, unsigned two)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(one), "r"(two));
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) add_scores(
    const float* phases, const float* planes, float* scores,
    const long long rows, const long long frequencies, const long long stride)
{
    __shared__ uint4 memory[2][2][8 * EIGHTS][(TILE + 16) / 4];  // large and small halves, cosines and sines
    const int inner = threadIdx.x % 4, outer = threadIdx.x % 32 / 4;
    const long long first = ((long long)blockIdx.x * WARPS + threadIdx.x / 32) * 16 * TILES + outer;
    const long long share = (frequencies + gridDim.y * TILE - 1) / (gridDim.y * TILE) * TILE;
    const int begin = blockIdx.y * share, end = min((blockIdx.y + 1) * share, frequencies);
    const float* row[TILES][2];
    #pragma unroll
    for (int tile = 0; tile < TILES; ++tile)
        #pragma unroll
        for (int half = 0; half < 2; ++half)
            row[tile][half] = phases + min(first + 16 * tile + 8 * half, rows - 1) * frequencies;
    float totals[TILES][EIGHTS][4] = {};
    for (int start = begin; start < end; start += TILE) {
        __syncthreads();
        for (int place = threadIdx.x; place < 16 * EIGHTS * TILE; place += 32 * WARPS) {
            const int f = place % TILE, each = place / TILE, output = each % (8 * EIGHTS);
            const int plane = each / (8 * EIGHTS);
            float coefficient = 0;
            if (start + f < end && output < OUTPUTS)
                coefficient = planes[(plane * OUTPUTS + output) * frequencies + start + f];
            unsigned large, small;
            split(coefficient, large, small);
            ((unsigned*)memory[0][plane][output])[f] = large;
            ((unsigned*)memory[1][plane][output])[f] = small;
        }
        __syncthreads();
        float sums[TILES][EIGHTS][4] = {};
        for (int step = 0; step < TILE && start + step < end; step += 16) {
            float phase[TILES][2][4];
            #pragma unroll
            for (int tile = 0; tile < TILES; ++tile)
                #pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int f = start + step + 4 * inner;
#ifdef ALIGNED
                    const float4 four = *(const float4*)(row[tile][half] + min(f, (int)frequencies - 4));
                    phase[tile][half][0] = four.x;
                    phase[tile][half][1] = four.y;
                    phase[tile][half][2] = four.z;
                    phase[tile][half][3] = four.w;
#else
                    #pragma unroll
                    for (int each = 0; each < 4; ++each)
                        phase[tile][half][each] = row[tile][half][min(f + each, (int)frequencies - 1)];
#endif
                }
            #pragma unroll
            for (int plane = 0; plane < 2; ++plane) {
                uint4 large[EIGHTS], small[EIGHTS];
                #pragma unroll
                for (int eight = 0; eight < EIGHTS; ++eight) {
                    large[eight] = memory[0][plane][8 * eight + outer][step / 4 + inner];
                    small[eight] = memory[1][plane][8 * eight + outer][step / 4 + inner];
                }
                #pragma unroll
                for (int tile = 0; tile < TILES; ++tile)
                    #pragma unroll
                    for (int two = 0; two < 2; ++two) {
                        unsigned features[4], rests[4];
                        #pragma unroll
                        for (int each = 0; each < 4; ++each) {
                            const float angle = phase[tile][each % 2][2 * two + each / 2];
                            const float turns = rintf(angle * (1 / TURN));
                            const float rest = fmaf(-turns, TURN_REST, fmaf(-turns, TURN, angle));
                            split(plane ? __sinf(rest) : __cosf(rest), features[each], rests[each]);
                        }
                        #pragma unroll
                        for (int eight = 0; eight < EIGHTS; ++eight) {
                            float* sum = sums[tile][eight];
                            const uint4 a = large[eight], b = small[eight];
                            add_product(sum, rests, two ? a.z : a.x, two ? a.w : a.y);
                            add_product(sum, features, two ? b.z : b.x, two ? b.w : b.y);
                            add_product(sum, features, two ? a.z : a.x, two ? a.w : a.y);
                        }
                    }
            }
        }
        #pragma unroll
        for (int tile = 0; tile < TILES; ++tile)
            #pragma unroll
            for (int eight = 0; eight < EIGHTS; ++eight)
                #pragma unroll
                for (int each = 0; each < 4; ++each) totals[tile][eight][each] += sums[tile][eight][each];
    }
    scores += blockIdx.y * stride;
    #pragma unroll
    for (int tile = 0; tile < TILES; ++tile)
        #pragma unroll
        for (int eight = 0; eight < EIGHTS; ++eight)
            #pragma unroll
            for (int each = 0; each < 4; ++each) {
                const long long place = first + 16 * tile + each / 2 * 8;
                const int output = 8 * eight + 2 * inner + each % 2;
                if (place < rows && output < OUTPUTS)
                    scores[place * OUTPUTS + output] += totals[tile][eight][each];
            }
}
"""

# A thread takes one frequency after another of one row; in the end the threads of a warp add what they have.
_DOUBLE = r"""
extern "C" __global__ void __launch_bounds__(32 * WARPS) add_scores(
    const double* phases, const double* planes, double* scores,
    const long long rows, const long long frequencies, const long long stride)
{
    const int lane = threadIdx.x % 32;
    const long long row = (long long)blockIdx.x * WARPS + threadIdx.x / 32;
    const long long share = (frequencies + gridDim.y - 1) / gridDim.y;
    const long long end = min((blockIdx.y + 1) * share, frequencies);
    if (row >= rows) return;
    double sums[OUTPUTS] = {};
    for (long long f = blockIdx.y * share + lane; f < end; f += 32) {
        double sine, cosine;
        sincos(phases[row * frequencies + f], &sine, &cosine);
        #pragma unroll
        for (int c = 0; c < OUTPUTS; ++c)
            sums[c] += cosine * planes[c * frequencies + f] + sine * planes[(OUTPUTS + c) * frequencies + f];
    }
    #pragma unroll
    for (int c = 0; c < OUTPUTS; ++c) {
        for (int step = 16; step; step /= 2) sums[c] += __shfl_down_sync(0xFFFFFFFF, sums[c], step);
        if (!lane) scores[blockIdx.y * stride + row * OUTPUTS + c] += sums[c];
    }
}
"""


def num_pieces(rows: int) -> int:
    """Return into how many pieces the frequencies are cut, so that the groups of so many rows fill a GPU."""
    return max(1, min(MOST_PIECES, GROUPS * ROWS // max(rows, 1)))


def add_scores(phases: Any, planes: Any, sums: Any, tensor_cores: bool = True) -> None:
    """Add cos(phases) A_0' + sin(phases) A_1' to sums, for phases (n, F) and planes A (2, C, F).

    The sums are (pieces, n, C), one for each piece of the frequencies. Without `tensor_cores` those in
    float32 are cuBLAS's plain products, and features are in memory.
    """
    import cupy

    (rows, frequencies), outputs = phases.shape, planes.shape[1]
    plain = phases.dtype == np.float32 and not tensor_cores
    if plain or not (0 < outputs <= MOST_OUTPUTS and phases.size and _has_tensor_cores()):
        sums[0] += cupy.cos(phases) @ planes[0].T + cupy.sin(phases) @ planes[1].T
        return
    compiled, rows_of_group = _compile(phases.dtype.char, outputs, frequencies % 4 == 0)
    groups = -(-rows // rows_of_group), sums.shape[0]
    sizes = (np.int64(each) for each in (rows, frequencies, sums.strides[0] // sums.itemsize))
    compiled(groups, (32 * WARPS,), (phases, planes, sums, *sizes))


@cache
def _has_tensor_cores() -> bool:
    import cupy

    return int(cupy.cuda.Device().compute_capability) >= 80


@cache
def _compile(kind: str, outputs: int, aligned: bool) -> tuple[Any, int]:
    """Return the kernel, and how many rows a group takes."""
    import cupy

    names = {"OUTPUTS": outputs, "WARPS": WARPS}
    if kind == "d":
        source, rows = _DOUBLE, WARPS
    else:
        eights, tiles = -(-outputs // 8), 1 if outputs > MANY_OUTPUTS else 2
        tile = max(each for each in (16, 32, 64, 128, 256) if 128 * eights * (each + 16) <= SHARED)
        names |= {"EIGHTS": eights, "TILES": tiles, "TILE": tile}
        source, rows = TURNS + "#define ALIGNED\n" * aligned + _SINGLE, WARPS * 16 * tiles
    lines = [f"#define {name} {value}" for name, value in names.items()]
    return cupy.RawKernel("\n".join([*lines, source]), "add_scores"), rows
