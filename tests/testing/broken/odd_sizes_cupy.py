"""A kernel whose body for CuPy forgets the last entry of odd sizes; on a host it is faultless."""

from benchfw import hookimpl
from benchfw.kernels import kernel


@kernel("doubled-on-gpu")
def doubled(x):
    """Return 2x."""
    return 2 * x


@doubled.on("cupy")
def _doubled_cupy(x):
    import cupy

    result = cupy.zeros_like(x)
    pairs = x.shape[0] // 2 * 2
    result[:pairs] = 2 * x[:pairs]
    return result


@hookimpl
def register_kernels(register):
    register(doubled, lambda backend, rng, size: (rng.standard_normal(size),))
