"""Results that are read later are those of their moment, on every backend without a wait of its own."""

import numpy as np

from benchfw.kernels import read_later


def test_on_the_host_the_array_itself_is_read():
    values = np.arange(3.0)
    assert read_later(values)() is values
