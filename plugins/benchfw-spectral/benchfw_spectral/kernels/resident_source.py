"""The CUDA sources of recurrences that one launch makes; resident.py launches them."""

from __future__ import annotations

COMMON = r"""
#if TEAM > 1
#define TOGETHER __launch_bounds__(THREADS) __cluster_dims__(TEAM, 1, 1)
#else
#define TOGETHER __launch_bounds__(THREADS)
#endif
#define WARPS (THREADS / 32)
#define SLICES (THREADS / LANES)
#define HELD (TEAM * ROWS)  // rows of a team
#define TURNS (HELD / 8)  // in which warps add what they have, in places that they share
#define RANK (blockIdx.x % TEAM)

// What a group of threads knows: a part of the matrix, in shared memory, and places for sums. The TEAM groups
// of a cluster have HELD rows together, each of them `part` columns from `first` on: it reads those rows of a
// block only, and what the others add to the rows that it is in charge of comes into its inbox. A thread is
// in charge of one entry of the blocks, in a row and a lane, if `mine`.
struct Group {
    const real* matrix;
    real scale, shift;
    int size, columns, first, part, kept, lane, row;
    bool mine;
    real *entries, *sums, *inbox;
    int *arrived, goal;
};

// Entry (r, k) of the group's part of scale A + shift I, 0 outside of it.
__device__ __forceinline__ real read_matrix(const Group& group, int r, int k)
{
    const int row = blockIdx.x / TEAM * HELD + r, column = group.first + k;
    if (row >= group.size || k >= group.part) return 0;
    const real entry = group.scale * group.matrix[(long long)row * group.size + column];
    return row == column ? entry + group.shift : entry;
}

// Where it is kept: eight rows stand together, columns after each other.
__device__ __forceinline__ int place_of(const Group& group, int r, int k)
{
    return (r / 8 * group.kept + k) * 8 + r % 8;
}

// The same entry, from memory if there was no place for it.
__device__ __forceinline__ real entry_of(const Group& group, int r, int k)
{
    return k < group.kept ? group.entries[place_of(group, r, k)] : read_matrix(group, r, k);
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
    const int most = ((size + TEAM - 1) / TEAM + 3) / 4 * 4;  // columns of a group
    group.first = RANK * most;
    group.part = max(0, min(most, size - group.first));
    group.kept = min(most, (int)(bytes / sizeof(real) - SUMS) / HELD / 4 * 4);
    group.lane = threadIdx.x % LANES;
    group.row = blockIdx.x * ROWS + threadIdx.x / LANES;
    group.mine = threadIdx.x < ROWS * LANES && group.row < size && group.lane < columns;
    group.entries = (real*)memory;
    group.sums = group.entries + HELD * group.kept;
    group.inbox = group.sums + SUMS - TEAM * ROWS * LANES;
    group.arrived = state;
    group.goal = 0;
    for (int eight = 0; eight < HELD; eight += 8)
        #pragma unroll 8
        for (int place = threadIdx.x; place < 8 * group.kept; place += THREADS) {
            const int r = eight + place % 8, k = place / 8;
            group.entries[place_of(group, r, k)] = read_matrix(group, r, k);
        }
    __syncthreads();
    return group;
}

// What this group has written is there for all that wait from now on. All groups run at once, so that they
// can wait for one another: the launch sees to it.
__device__ void arrive(Group& group)
{
    __syncthreads();
    group.goal += gridDim.x;
    if (threadIdx.x) return;
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(group.arrived) : "memory");
}

__device__ void wait_for_arrivals(const Group& group)
{
    if (!threadIdx.x) {
        int seen;
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(group.arrived) : "memory");
        while (seen < group.goal);
    }
    __syncthreads();
}

__device__ void wait_for_all(Group& group)
{
    arrive(group);
    wait_for_arrivals(group);
}

// The end of every kernel: the last group that comes here tells the host what a group has written to
// state[1], and leaves zeros for the next launch.
__device__ void finish(const Group& group, int* report)
{
    __syncthreads();
    if (threadIdx.x) return;
    int* state = group.arrived;
    __threadfence();
    if (atomicAdd(state + 2, 1) + 1 < gridDim.x) return;
    *report = atomicExch(state + 1, 0);
    state[0] = state[2] = 0;
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

// The part of the product that a warp finds, from every so many columns of the group, by products of 8 rows,
// 4 columns and 8 lanes. A thread has entry (outer, inner) of the first factor, (inner, outer) of the second,
// and two of the result.
__device__ void multiply_parts(const Group& group, const real* block)
{
    const int inner = threadIdx.x % 4, outer = threadIdx.x % 32 / 4, warp = threadIdx.x / 32;
    const int last = group.size - group.first - 1;
    real sums[HELD / 8][LANES / 8][2] = {};
    block += (long long)group.first * group.columns;
    for (int first = 4 * warp; first < group.part; first += 4 * AT_ONCE * WARPS) {
        real entries[AT_ONCE][LANES / 8];  // all asked for before any is used
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const real* row = block + min(first + 4 * WARPS * each + inner, last) * group.columns;
            #pragma unroll
            for (int eight = 0; eight < LANES / 8; ++eight)
                entries[each][eight] = __ldcg(row + min(8 * eight + outer, group.columns - 1));
        }
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const int k = first + 4 * WARPS * each;
            #pragma unroll
            for (int r = 0; r < HELD / 8; ++r) {
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
        for (int r = 0; r < HELD / 8; ++r)
            #pragma unroll
            for (int eight = 0; eight < LANES / 8; ++eight) {
                const int row = warp / TURNS * HELD + 8 * r + outer;
                double2* place = (double2*)(group.sums + row * WIDTH + 8 * eight + 2 * inner);
                const double2 before = turn ? *place : make_double2(0, 0);
                *place = make_double2(before.x + sums[r][eight][0], before.y + sums[r][eight][1]);
            }
    }
}
#else
#define WIDTH LANES

// The part of the product that a warp finds: for all lanes, from every so many columns of the group.
__device__ void multiply_parts(const Group& group, const real* block)
{
    const int last = group.size - group.first - 1;
    real sums[HELD] = {};
    block += (long long)group.first * group.columns + min(group.lane, group.columns - 1);
    for (int first = threadIdx.x / LANES; first < group.part; first += AT_ONCE * SLICES) {
        real entries[AT_ONCE];  // all asked for before any is used
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each)
            entries[each] = __ldcg(block + min(first + each * SLICES, last) * group.columns);
        #pragma unroll
        for (int each = 0; each < AT_ONCE; ++each) {
            const int k = first + each * SLICES;
            if (k >= group.part) break;
            #pragma unroll
            for (int r = 0; r < HELD; ++r) sums[r] += entry_of(group, r, k) * entries[each];
        }
    }
    const int warp = threadIdx.x / 32;
    #pragma unroll
    for (int r = 0; r < HELD; ++r)
        for (int step = 16; step >= LANES; step /= 2) sums[r] += __shfl_down_sync(0xFFFFFFFF, sums[r], step);
    for (int turn = 0; turn < TURNS; ++turn) {
        if (turn) __syncthreads();
        if (warp % TURNS != turn || threadIdx.x % 32 >= LANES) continue;
        #pragma unroll
        for (int r = 0; r < HELD; ++r) {
            real* place = group.sums + (warp / TURNS * HELD + r) * WIDTH + group.lane;
            *place = turn ? *place + sums[r] : sums[r];
        }
    }
}
#endif

// The same place of another group of the team.
__device__ real* place_of_other(real* place, int rank)
{
    real* other = place;
#if TEAM > 1
    asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(place), "r"(rank));
#endif
    return other;
}

__device__ void wait_for_team()
{
#if TEAM > 1
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

// This thread's entry of the product of the matrix with a block that no group is writing. `wait_for_all` must
// come before the next one.
__device__ real multiply(const Group& group, const real* block)
{
    multiply_parts(group, block);
    __syncthreads();
    for (int place = threadIdx.x; place < HELD * LANES; place += THREADS) {
        real sum = 0;
        #pragma unroll
        for (int part = 0; part < WARPS / TURNS; ++part)
            sum += group.sums[(part * HELD + place / LANES) * WIDTH + group.lane];
        const int rank = place / (ROWS * LANES);
        place_of_other(group.inbox, rank)[RANK * ROWS * LANES + place % (ROWS * LANES)] = sum;
    }
    wait_for_team();
    real total = 0;
    if (threadIdx.x < ROWS * LANES)
        #pragma unroll
        for (int rank = 0; rank < TEAM; ++rank) total += group.inbox[rank * ROWS * LANES + threadIdx.x];
    return total;
}

// The sums of two values over the rows that this group is in charge of, in the first 2 LANES threads: first
// those of one, then those of the other. `wait_for_arrivals` or another barrier must follow.
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

# The residual is not normalized before the product: the product is, once its length is known to all groups.
LANCZOS = r"""
extern "C" __global__ void TOGETHER lanczos(
    const real* matrix, int size, int columns, real scale, real shift, int* state, int* report,
    const real* probes, int down, int right, real* block, real* basis, int steps, real rounding, real limit,
    real* parts, real* alphas, real* betas)
{
    Group group = hold_rows(matrix, size, columns, scale, shift, state);
    real* more_parts = parts + (gridDim.x + 1) * LANES;
    const bool writes = !blockIdx.x && threadIdx.x < columns;
    real previous, current = 0, residual = read(group, probes, down, right), largest = 0;
    write(group, block, residual);
    real beta = sqrt(sum_columns(group, residual * residual, more_parts));
    if (writes && !(beta >= 1 / limit && beta <= limit)) state[1] = 1;
    for (int step = 0; step < steps; ++step) {
        const real inverse = beta > 0 ? 1 / beta : 0;
        previous = current;
        current = residual * inverse;
        residual = multiply(group, block) * inverse - beta * previous;
        const real alpha = sum_columns(group, current * residual, parts);
        residual -= alpha * current;
        write(group, block, residual);
        if (basis) write(group, basis + (long long)step * size * columns, current);
        const real length = sqrt(sum_columns(group, residual * residual, more_parts));
        const real reach = fabs(alpha) + length;
        if (writes && !step && !(reach >= 1 / limit && reach <= limit)) state[1] = 1;
        largest = max(largest, reach);
        beta = length > rounding * largest ? length : 0;
        if (writes) {
            alphas[step * columns + threadIdx.x] = alpha;
            betas[step * columns + threadIdx.x] = beta;
        }
    }
    finish(group, report);
}
"""

# `outcome` has rows: the iterations made, whether a column is not solved, and the iteration in which p'Ap was
# not positive, with its value.
CONJUGATE_GRADIENTS = r"""
extern "C" __global__ void TOGETHER conjugate_gradients(
    const real* matrix, int size, int columns, real scale, real shift, int* state, int* report,
    const real* rhs, int down, int right, real* solution, int from_start, real* block, int iterations,
    real tolerance, real limit, real* parts, real* outcome)
{
    Group group = hold_rows(matrix, size, columns, scale, shift, state);
    real* more_parts = parts + (gridDim.x + 1) * LANES;
    const bool writes = !blockIdx.x && threadIdx.x < columns;
    real residual = read(group, rhs, down, right), sum = 0, direction = 0, before = 0;
    real refused = 0, negative = 0;
    real square = sum_columns(group, residual * residual, parts);
    const real length = sqrt(square), goal = tolerance * length;
    if (writes && !(length >= 1 / limit && length <= limit)) state[1] = 1;
    if (from_start) {
        sum = read(group, solution, columns, 1);
        residual -= multiply(group, solution);
        square = sum_columns(group, residual * residual, more_parts);
    }
    bool active = group.lane < columns && !(sqrt(square) <= goal);
    int iteration = 0;
    while (iteration < iterations && __syncthreads_or(active)) {
        ++iteration;
        direction = residual + (before != 0 ? square / before : 0) * direction;
        before = square;
        write(group, block, direction);
        wait_for_all(group);
        const real product = multiply(group, block);
        const real curvature = sum_columns(group, direction * product, parts);
        if (active && !(curvature > 0)) {
            refused = iteration;
            negative = curvature;
        }
        if (__syncthreads_or(refused != 0)) break;
        const real step = active ? square / curvature : 0;
        sum += step * direction;
        residual -= step * product;
        square = sum_columns(group, residual * residual, more_parts);
        active = group.lane < columns && !(sqrt(square) <= goal);
    }
    write(group, solution, sum);
    if (writes) {
        const real values[4] = {(real)iteration, (real)active, refused, negative};
        for (int each = 0; each < 4; ++each) outcome[each * columns + threadIdx.x] = values[each];
    }
    finish(group, report);
}
"""
