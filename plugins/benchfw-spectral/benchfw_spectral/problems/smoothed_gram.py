"""θθ' + εI of one θ, and a bound of its spectrum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from benchfw import Array, Backend
from benchfw.kernels import Counted, Order, add_product, add_scaled, dense_product, read_later
from benchfw_spectral.functions.function import Function, Interval
from benchfw_spectral.problems.matrices import collatz_bound

POWER_STEPS = 3  # they bound λmax within 1.3 % on MovieLens 100K and 1M
HAIR = {"float64": 1e-6, "float32": 2e-5}  # rounding must not put an eigenvalue outside of the interval


class SmoothedGram:
    """A = θθ' + εI at one θ: a ParametricMatrix of a function; `count` hears of all products."""

    def __init__(
        self,
        backend: Backend,
        params: Array,
        smoothing: float,
        function: Function,
        count: Callable[[int], None],
    ) -> None:
        self.backend = backend
        self.function = function
        self.size: int = params.shape[0]
        self.operator = Counted(Factored(params, 1.0, smoothing), count)
        self._params = params
        self._smoothing = smoothing
        self._count = count

    @cached_property
    def _top(self) -> Callable[[], float]:
        self._count(POWER_STEPS)
        return top_bound(self.backend, self._params, POWER_STEPS)

    def begin_interval(self) -> None:
        """Begin to find the interval: a device goes on with it while the host asks for other things."""
        self._top  # noqa: B018 - the first question begins it

    @cached_property
    def interval(self) -> Interval:
        """From ε to a bound of the largest eigenvalue, found at the first question."""
        top, hair = self._top() + self._smoothing, HAIR[self._params.dtype.name]
        return self._smoothing * (1 - hair), top * (1 + hair)

    def pullback(self, left: Array, right: Array, symmetric: bool = False) -> Array:
        """Return Σ_i ∂_θ (l_i'θθ'r_i) = (LR' + RL')θ, (size, users), for two (size, k) blocks.

        `symmetric` promises that LR' = RL', as for the pairs of a polynomial of A, and halves the work.
        """
        xp, params = self.backend.xp, self._params
        (size, users), count = params.shape, left.shape[1]
        self._count(count)
        rank = count if symmetric else 2 * count
        if 2 * rank * users > size * (count + users):  # then fewer operations go through LR', (size, size)
            coupling = left @ right.T
            return (coupling + coupling.T) @ params
        images = xp.empty((rank, users), dtype=params.dtype)
        xp.matmul(right.T, params, out=images[:count])
        if symmetric:
            images *= 2
            return left @ images
        xp.matmul(left.T, params, out=images[count:])
        return xp.concatenate([left.T, right.T]).T @ images


class Factored:
    """The operator of scale θθ' + shift I."""

    order: Order = "F"

    def __init__(self, factor: Array, scale: float, shift: float) -> None:
        self.size: int = factor.shape[0]
        self.work = 4.0 * factor.size
        self._factor = factor
        self._scale = scale
        self._shift = shift

    def matmat(self, block: Array) -> Array:
        """Return A block."""
        return add_product(self._images(block), self._factor, self._shift * block, self._scale, 1.0)

    def new_update(self, block: Array, out: Array, scale: float, keep: float) -> Array:
        """Return scale A block + keep out in a new array."""
        shifted = add_scaled(out, scale * self._shift, block, keep)
        return add_product(self._images(block), self._factor, shifted, scale * self._scale, 1.0)

    update = new_update

    def shifted(self, scale: float, shift: float) -> Factored:
        """Return the operator of scale A + shift I."""
        return Factored(self._factor, scale * self._scale, scale * self._shift + shift)

    def _images(self, block: Array) -> Array:
        """Return θ' block, (users, k), column after column."""
        return dense_product(block, self._factor.T)


def top_bound(backend: Backend, params: Array, steps: int) -> Callable[[], float]:
    """Return what waits for an upper bound of the largest eigenvalue of θ'θ and θθ', by products with θ'θ.

    Users have more ratings than the rarest items: θ'θ is the one whose bound falls fast.
    """

    def bound(entries: Array) -> Callable[[], float]:
        return collatz_bound(
            backend, lambda x: entries.T @ (entries @ x), params.shape[1], steps, params.dtype
        )

    least, found = read_later(params.min()), bound(params)
    # |θ|'|θ| has no smaller a top eigenvalue
    return lambda: found() if least() >= 0 else bound(backend.xp.abs(params))()


def smaller_gram(params: Array) -> Array:
    """Return θθ' or θ'θ, whichever has fewer rows."""
    return params @ params.T if params.shape[0] <= params.shape[1] else params.T @ params
