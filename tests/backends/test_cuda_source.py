"""The CUDA sources, compiled for the host: the same operations must give the same bits as NumPy.

A GPU is not needed to find a wrong constant or a wrong order; that the GPU rounds alike is for tests/gpu.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.backends.cuda_source import PHILOX, box_muller_source
from benchfw.backends.normals import box_muller
from benchfw.backends.precisions import DOUBLE, SINGLE

COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = pytest.mark.skipif(
    COMPILER is None, reason="no C++ compiler to build the CUDA sources for the host with"
)

INTRINSICS = r"""
#include <cmath>
#include <cstring>
#define __global__
#define __device__ static
#define __forceinline__ inline
struct Index { unsigned x, y; };
static Index blockIdx, blockDim, threadIdx;
template <class To, class From> static To same_bits(From value)
{ To to; memcpy(&to, &value, sizeof to); return to; }
#define __float_as_int same_bits<int, float>
#define __int_as_float same_bits<float, int>
#define __double_as_longlong same_bits<long long, double>
#define __longlong_as_double same_bits<double, long long>
static double __dsqrt_rn(double x) { return std::sqrt(x); }
static double __ddiv_rn(double x, double y) { return x / y; }
static unsigned long long __umul64hi(unsigned long long x, unsigned long long y)
{ return (unsigned long long)(((unsigned __int128)x * y) >> 64); }
"""

LAUNCH = r"""
extern "C" void launch(unsigned long long threads, PARAMETERS)
{
    blockDim.x = 256;
    for (unsigned long long thread = 0; thread < threads; ++thread) {
        blockIdx.x = thread / 256;
        threadIdx.x = thread % 256;
        CALL;
    }
}
"""


def build(folder, source, parameters, call):
    """Return a function that runs the kernel once for each thread, in order."""
    code = INTRINSICS + source + LAUNCH.replace("PARAMETERS", parameters).replace("CALL", call)
    (folder / "source.cpp").write_text(code)
    library = folder / "library.so"
    options = ["-O1", "-ffp-contract=off", "-Wno-unknown-pragmas", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *options, "-o", library, folder / "source.cpp"], check=True)
    return ctypes.CDLL(str(library)).launch


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=["single", "double"])
def test_the_fused_box_muller_repeats_every_operation_of_the_array_code(precision, tmp_path):
    launch = build(
        tmp_path,
        box_muller_source(precision),
        "const word* words, word pairs, real* out",
        "box_muller(words, pairs, out)",
    )
    words = get_backend("numpy").bits(17, 0, 0, 0, 1 << 18)
    expected = box_muller(np, words, precision.floating)
    fused = np.empty_like(expected)
    pairs = expected.size // 2
    launch(ctypes.c_ulonglong(pairs + 5), pointer(words), ctypes.c_ulonglong(pairs), pointer(fused))
    np.testing.assert_array_equal(fused.view(precision.signed), expected.view(precision.signed))


def test_the_philox_kernel_gives_the_words_of_numpy(tmp_path):
    names = ("seed", "stream", "block", "start", "count")
    launch = build(
        tmp_path,
        PHILOX,
        ", ".join(f"word {name}" for name in names) + ", word* out",
        f"philox_words({', '.join(names)}, out)",
    )
    for address in ((1, 2, 3, 0, 1000), ((1 << 64) - 1, 5, 1 << 63, 17, 1001), (0, 0, 0, (1 << 40) + 3, 2)):
        words = np.zeros(address[-1] + 8, dtype=np.uint64)
        launch(ctypes.c_ulonglong(512), *map(ctypes.c_ulonglong, address), pointer(words))
        np.testing.assert_array_equal(words[:-8], get_backend("numpy").bits(*address))
        assert not words[-8:].any()  # nothing is written past the end
