"""The CUDA source of Chebyshev recurrences that one launch makes; chebyshev.py launches it."""

from __future__ import annotations

# Block j is where block j - kept was. `parts` are |w_j|² and w_j'w_{j-1} of groups of rows, and in the last
# place their sums, from which the forms follow. It reports how far above its bound a form is.
CHEBYSHEV = r"""
extern "C" __global__ void TOGETHER chebyshev(
    const real* matrix, int size, int columns, real scale, real shift, int* state, int* report,
    const real* probes, int down, int right, real* blocks, int kept, int degree, real most,
    real* parts, real* forms)
{
    Group group = hold_rows(matrix, size, columns, scale, shift, state);
    const int length = size * columns, stride = (gridDim.x + 1) * LANES, steps = (degree + 1) / 2;
    real before = 0, now = read(group, probes, down, right);
    write(group, blocks, now);
    for (int j = 0; ; ++j) {
        arrive(group);
        const real part = sum_rows(group, now * now, now * before);
        if (threadIdx.x < 2 * LANES)
            parts[(2 * j + threadIdx.x / LANES) * stride + blockIdx.x * LANES + group.lane] = part;
        wait_for_arrivals(group);
        if (j == steps) break;
        real after = multiply(group, blocks + (long long)(j % kept) * length);
        after = j ? after - before : after / 2;
        write(group, blocks + (long long)((j + 1) % kept) * length, after);
        before = now;
        now = after;
    }
    wait_for_all(group);  // for the parts, too
    const int first = blockIdx.x * THREADS + threadIdx.x, all = gridDim.x * THREADS;
    for (int place = first; place < 2 * (steps + 1) * LANES; place += all) {
        real* part = parts + place / LANES * stride + place % LANES;
        real sum = 0;
        #pragma unroll 32
        for (int each = 0; each < gridDim.x; ++each) sum += __ldcg(part + each * LANES);
        part[gridDim.x * LANES] = sum;
    }
    wait_for_all(group);
    for (int place = first; place < (degree + 1) * columns; place += all) {
        const int number = place / columns, odd = number % 2, j = (number + odd) / 2;
        const real* sums = parts + gridDim.x * LANES + place % columns;
        const real square = __ldcg(sums), first_dot = __ldcg(sums + 3 * stride);
        const real form = 2 * __ldcg(sums + (2 * j + odd) * stride) - (odd ? first_dot : square);
        forms[place] = form;
        if (!(fabs(form) <= most * square)) {  // true for NaN
            const float times = fabs(form) / square;
            atomicMax(state + 1, __float_as_int(times < 1e38f ? times : 1e38f));
        }
    }
    finish(group, report);
}
"""
