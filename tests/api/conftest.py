"""A notebook with problems and methods, in a folder with a plugin."""

import contextlib
import shutil
from pathlib import Path

import pytest
from fixtures.cells import BOWLS, Notebook

PLUGIN = Path(__file__).parents[1] / "plugins" / "bowls.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for all tests of a file, which is the working folder."""
    folder = tmp_path_factory.mktemp("compare")
    shutil.copy(PLUGIN, folder / "bowls.py")
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture
def notebook(folder):
    return Notebook()(BOWLS)
