"""Recurrences with a small dense matrix on a GPU, each by one launch.

At a few hundred rows a product takes less time than its launch. Here every processor of the GPU keeps some
rows of the matrix for the whole recurrence, in its shared memory as far as there is place, and the processors
wait for one another between steps. Kernels are written against `COMMON`, whose functions their sources call.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchfw.kernels.operators import Operator, Whole, whole

THREADS, AT_ONCE = 512, 4  # of a group, and what one of them reads before it waits
LANES = 32  # the most columns that a launch takes
ROWS = 8, 16  # of the matrix that a group may hold
CTYPES = {"f": "float", "d": "double"}
NOTHING = np.uintp(0)  # for an array that a kernel can do without

COMMON = r"""
#define WARPS (THREADS / 32)
#define SLICES (THREADS / LANES)
#define TURNS (ROWS / 8)  // in which warps add what they have, in places that they share

// What a group of threads knows: ROWS rows of the matrix, in shared memory, and places for sums. A thread is
// in charge of one entry of the blocks, in a row and a lane, if `mine`.
struct Group {
    const real* matrix;
    real scale, shift;
    int size, columns, held, lane, row;
    bool mine;
    real *rows, *sums;
    int *arrived, goal;
};

// Entry (row, column) of scale A + shift I, 0 outside of it.
__device__ __forceinline__ real read_matrix(const Group& group, int row, int column)
{
    if (row >= group.size || column >= group.size) return 0;
    const real entry = group.scale * group.matrix[(long long)row * group.size + column];
    return row == column ? entry + group.shift : entry;
}

// Where column k of the group's row r is held: eight rows stand together, columns after each other.
__device__ __forceinline__ int place_of(const Group& group, int r, int k)
{
    return (r / 8 * group.held + k) * 8 + r % 8;
}

// The same entry, from memory if there was no place for it.
__device__ __forceinline__ real entry_of(const Group& group, int r, int k)
{
    return k < group.held ? group.rows[place_of(group, r, k)] : read_matrix(group, blockIdx.x * ROWS + r, k);
}

__device__ Group hold_rows(
    const real* matrix, int size, int columns, real scale, real shift, int* state)
{
    extern __shared__ double2 memory[];
    Group group;
    group.matrix = matrix;
    group.scale = scale;
    group.shift = shift;
    group.size = size;
    group.columns = columns;
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    group.held = min((size + 3) / 4 * 4, (int)(bytes / sizeof(real) - SUMS) / ROWS / 4 * 4);
    group.lane = threadIdx.x % LANES;
    group.row = blockIdx.x * ROWS + threadIdx.x / LANES;
    group.mine = threadIdx.x < ROWS * LANES && group.row < size && group.lane < columns;
    group.rows = (real*)memory;
    group.sums = group.rows + ROWS * group.held;
    group.arrived = state;
    group.goal = 0;
    for (int eight = 0; eight < ROWS; eight += 8)
        for (int place = threadIdx.x; place < 8 * group.held; place += THREADS) {
            const int r = eight + place % 8, k = place / 8;
            group.rows[place_of(group, r, k)] = read_matrix(group, blockIdx.x * ROWS + r, k);
        }
    __syncthreads();
    return group;
}

// All groups run at once, so that they can wait for one another: the launch sees to it.
__device__ void wait_for_all(Group& group)
{
    __syncthreads();
    if (!threadIdx.x) {
        group.goal += gridDim.x;
        int seen;
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(group.arrived) : "memory");
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(group.arrived) : "memory");
        while (seen < group.goal);
    }
    __syncthreads();
}

// This thread's entry of an array of any strides.
__device__ real read(const Group& group, const real* array, int down, int right)
{
    return group.mine ? array[(long long)group.row * down + (long long)group.lane * right] : (real)0;
}

// The same of a block, which is an array (size, columns) in C order that all groups share.
__device__ void write(const Group& group, real* block, real value)
{
    if (group.mine) block[group.row * group.columns + group.lane] = value;
}

#ifdef TENSOR_CORES
#define WIDTH (LANES + 8)  // of a row of sums: so that threads beside each other use different banks

// The part of the product that a warp finds, from every so many columns of the matrix, by products of 8 rows,
// 4 columns and 8 lanes. A thread has entry (outer, inner) of the first factor, (inner, outer) of the second,
// and two of the result.
__device__ void multiply_parts(const Group& group, const real* block)
{
    const int inner = threadIdx.x % 4, outer = threadIdx.x % 32 / 4, warp = threadIdx.x / 32;
    real sums[ROWS / 8][LANES / 8][2] = {};
    for (int first = 4 * warp; first < group.size; first += 4 * AT_ONCE * WARPS) {
        real entries[AT_ONCE][LANES / 8];  // all asked for before any is used
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const real* row = block + min(first + 4 * WARPS * each + inner, group.size - 1) * group.columns;
            #pragma unroll
            for (int eight = 0; eight < LANES / 8; ++eight)
                entries[each][eight] = __ldcg(row + min(8 * eight + outer, group.columns - 1));
        }
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const int k = first + 4 * WARPS * each;
            #pragma unroll
            for (int r = 0; r < ROWS / 8; ++r) {
                const real entry = entry_of(group, 8 * r + outer, k + inner);
                #pragma unroll
                for (int eight = 0; eight < LANES / 8; ++eight)
                    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                        : "+d"(sums[r][eight][0]), "+d"(sums[r][eight][1])
                        : "d"(entry), "d"(entries[each][eight]));
            }
        }
    }
    for (int turn = 0; turn < TURNS; ++turn) {
        if (turn) __syncthreads();
        if (warp % TURNS != turn) continue;
        #pragma unroll
        for (int r = 0; r < ROWS / 8; ++r)
            #pragma unroll
            for (int eight = 0; eight < LANES / 8; ++eight) {
                const int row = warp / TURNS * ROWS + 8 * r + outer;
                double2* place = (double2*)(group.sums + row * WIDTH + 8 * eight + 2 * inner);
                const double2 before = turn ? *place : make_double2(0, 0);
                *place = make_double2(before.x + sums[r][eight][0], before.y + sums[r][eight][1]);
            }
    }
}
#else
#define WIDTH LANES

// The part of the product that a warp finds: for all lanes, from every so many columns of the matrix.
__device__ void multiply_parts(const Group& group, const real* block)
{
    real sums[ROWS] = {};
    const real* column = block + min(group.lane, group.columns - 1);
    for (int first = threadIdx.x / LANES; first < group.size; first += AT_ONCE * SLICES) {
        real entries[AT_ONCE];  // all asked for before any is used
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each)
            entries[each] = __ldcg(column + min(first + each * SLICES, group.size - 1) * group.columns);
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const int k = first + each * SLICES;
            if (k >= group.size) break;
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) sums[r] += entry_of(group, r, k) * entries[each];
        }
    }
    const int warp = threadIdx.x / 32;
    #pragma unroll
    for (int r = 0; r < ROWS; ++r)
        for (int step = 16; step >= LANES; step /= 2) sums[r] += __shfl_down_sync(0xFFFFFFFF, sums[r], step);
    for (int turn = 0; turn < TURNS; ++turn) {
        if (turn) __syncthreads();
        if (warp % TURNS != turn || threadIdx.x % 32 >= LANES) continue;
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            real* place = group.sums + (warp / TURNS * ROWS + r) * WIDTH + group.lane;
            *place = turn ? *place + sums[r] : sums[r];
        }
    }
}
#endif

// This thread's entry of the product of the matrix with a block that no group is writing.
__device__ real multiply(const Group& group, const real* block)
{
    multiply_parts(group, block);
    __syncthreads();
    real total = 0;
    if (threadIdx.x < ROWS * LANES)
        #pragma unroll
        for (int part = 0; part < WARPS / TURNS; ++part)
            total += group.sums[(part * ROWS + threadIdx.x / LANES) * WIDTH + group.lane];
    __syncthreads();
    return total;
}

// The sums of two values over the rows that this group is in charge of, in the first 2 LANES threads: first
// those of one, then those of the other. `wait_for_all` or another barrier must follow.
__device__ real sum_rows(const Group& group, real value, real other)
{
    if (threadIdx.x < ROWS * LANES) {
        group.sums[threadIdx.x] = group.mine ? value : (real)0;
        group.sums[ROWS * LANES + threadIdx.x] = group.mine ? other : (real)0;
    }
    __syncthreads();
    real total = 0;
    if (threadIdx.x < 2 * LANES)
        #pragma unroll
        for (int r = 0; r < ROWS; ++r)
            total += group.sums[(threadIdx.x / LANES * ROWS + r) * LANES + group.lane];
    return total;
}

// The sums over all rows, in all threads of a lane: equal in all groups. It waits for all. `parts` has LANES
// places a group, and must not be those of the call before, which other groups may still be reading.
__device__ real sum_columns(Group& group, real value, real* parts)
{
    const real part = sum_rows(group, value, 0);
    if (threadIdx.x < LANES) parts[blockIdx.x * LANES + threadIdx.x] = part;
    wait_for_all(group);
    real sum = 0;
    for (int each = threadIdx.x / LANES; each < gridDim.x; each += SLICES)
        sum += __ldcg(parts + each * LANES + group.lane);
    group.sums[threadIdx.x] = sum;
    __syncthreads();
    real total = 0;
    for (int slice = 0; slice < SLICES; ++slice) total += group.sums[slice * LANES + group.lane];
    __syncthreads();
    return total;
}
"""


class Resident:
    """A matrix that fits into a GPU's shared memory, for recurrences that start from a block of columns."""

    def __init__(self, dense: Whole, rows: int) -> None:
        self._dense = dense
        self._rows = rows
        self._groups = -(-dense.matrix.shape[0] // rows)

    def tiles(self, block: Any) -> list[Any]:
        """Return views of the columns of a block, as many in each as a launch takes."""
        columns = block.shape[1]
        if columns <= LANES:
            return [block]
        return [block[:, first : first + LANES] for first in range(0, columns, LANES)]

    def count(self, columns: int) -> None:
        """Count products with so many columns."""
        self._dense.on_product(columns)

    def places(self, tile: Any, sums: int) -> Any:
        """Return memory for so many sums a column: the part of each group, and one place more."""
        import cupy

        return cupy.empty((sums, self._groups + 1, _lanes(tile)), dtype=tile.dtype)

    def launch(self, source: str, name: str, tile: Any, *arguments: Any) -> Any:
        """Run a kernel; return its state on the device, of which [1] is 0 unless the kernel wrote there.

        Its parameters are those of `hold_rows`, the tile with its strides, and the arguments, of which
        Python's floats are its `real` and integers its `int`.
        """
        import cupy

        real, lanes, (size, columns) = tile.dtype.type, _lanes(tile), tile.shape
        state = cupy.zeros(2, dtype=np.int32)
        strides = (np.int32(each // tile.itemsize) for each in tile.strides)
        matrix, scale, shift, _ = self._dense
        head = (matrix, np.int32(size), np.int32(columns), real(scale), real(shift), state, tile, *strides)
        tail = (
            real(each) if isinstance(each, float) else np.int32(each) if isinstance(each, int) else each
            for each in arguments
        )
        compiled = _compile(source, name, tile.dtype.char, self._rows, lanes)
        entries = self._rows * (size + -size % 4) + _sums(lanes)
        shared = min(entries * tile.itemsize, _device().shared_bytes)
        places = (self._groups,), (THREADS,)
        compiled(*places, (*head, *tail), shared_mem=shared, enable_cooperative_groups=True)
        return state


def resident(operator: Operator, block: Any) -> Resident | None:
    """Return the matrix of an operator if it fits into the GPU that the block is on; None if it does not."""
    dense = whole(operator)
    if dense is None or not block.size or block.dtype != dense.matrix.dtype or block.dtype.char not in CTYPES:
        return None
    device, size = _device(), dense.matrix.shape[0]
    rows = next((rows for rows in ROWS if rows * device.processors >= size), None)
    if rows is None:
        return None
    if not dense.matrix.flags.c_contiguous:
        dense = dense._replace(matrix=dense.matrix.T)  # it is symmetric
    return Resident(dense, rows) if dense.matrix.flags.c_contiguous else None


def side_by_side(tiles: list[Any]) -> Any:
    """Return the columns of all tiles in one array, (…, M)."""
    import cupy

    return tiles[0] if len(tiles) == 1 else cupy.concatenate(tiles, axis=-1)


def _lanes(tile: Any) -> int:
    """Return the power of two that holds its columns, at least the eight of tensor cores."""
    return 1 << max(3, (int(tile.shape[1]) - 1).bit_length())


def _sums(lanes: int) -> int:
    """Return how many sums a group has places for."""
    return max(THREADS // 32 * 8 * (lanes + 8), THREADS)


class Device(NamedTuple):
    """What a GPU has: processors, the bytes of shared memory of a group, tensor cores for float64."""

    processors: int
    shared_bytes: int
    multiplies_doubles: bool


@cache
def _device() -> Device:
    import cupy

    device = cupy.cuda.Device()
    attributes = device.attributes
    processors, shared = attributes["MultiProcessorCount"], attributes["MaxSharedMemoryPerBlockOptin"]
    return Device(int(processors), int(shared), int(device.compute_capability) >= 80)


@cache
def _compile(source: str, name: str, kind: str, rows: int, lanes: int) -> Any:
    import cupy

    device = _device()
    names = {"THREADS": THREADS, "AT_ONCE": AT_ONCE, "ROWS": rows, "LANES": lanes, "SUMS": _sums(lanes)}
    lines = [f"#define {each} {value}" for each, value in names.items()]
    lines += [f"typedef {CTYPES[kind]} real;"]
    lines += ["#define TENSOR_CORES"] * (kind == "d" and device.multiplies_doubles)
    compiled = cupy.RawKernel("\n".join([*lines, COMMON, source]), name)
    compiled.max_dynamic_shared_size_bytes = device.shared_bytes
    return compiled.kernel
