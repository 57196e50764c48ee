"""Data of a file."""

from pathlib import Path

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """The table beside the benchmark; its last column is the target."""

    name = "Table"
    parameters = {"columns": [2]}

    def get_data(self):
        """Return the data."""
        table = np.loadtxt(Path(__file__).parents[1] / "table.csv", delimiter=",")
        return {"X": table[:, : self.columns], "y": table[:, -1]}
