"""Made-up data."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """A linear model with noise."""

    name = "Simulated"
    parameters = {"n_samples": [40], "n_features": [5]}

    def get_data(self):
        """Return the data."""
        rng = np.random.default_rng(self.get_seed(use_dataset=True))
        X = rng.standard_normal((self.n_samples, self.n_features))
        return {"X": X, "y": X.sum(axis=1) + rng.standard_normal(self.n_samples)}
