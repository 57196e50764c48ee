"""How widely the columns of a table spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def deviations(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the standard deviation of each column, or of a vector; exactly 0 where all values are the same.

    The mean of a constant column is off by a rounding error, and so would be its deviation.
    """
    import numpy as np

    varies = values.min(axis=0) < values.max(axis=0)
    return np.where(varies, values.std(axis=0, dtype=np.float64), 0.0)
