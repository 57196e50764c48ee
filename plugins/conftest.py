"""What the tests of every family start from."""

from __future__ import annotations

import pytest

from benchfw import Backend
from benchfw.backends import get_backend


@pytest.fixture(scope="session")
def backend() -> Backend:
    return get_backend("numpy")
