"""What the tests of the bridges share."""

from __future__ import annotations

import pytest

from benchfw.backends import get_backend


@pytest.fixture
def backend():
    return get_backend("numpy")
