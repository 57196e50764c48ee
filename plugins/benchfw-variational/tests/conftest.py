"""The backend that the tests run on."""

from __future__ import annotations

import pytest

from benchfw import Backend
from benchfw.backends import get_backend


@pytest.fixture(scope="session")
def backend() -> Backend:
    return get_backend("numpy")
