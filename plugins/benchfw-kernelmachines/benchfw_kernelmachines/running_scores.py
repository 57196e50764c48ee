"""The scores of one answer after another at the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchfw import Array
from benchfw_kernelmachines.kernels.random_features import feature_scores
from benchfw_kernelmachines.oracles import Predictor
from benchfw_kernelmachines.predictor import FeaturePredictor


class RunningScores:
    """Scores at fixed rows; of a sum over random features only the blocks that changed are computed.

    Answers of one run share the blocks that did not move between them, so that all looks together cost little
    more than the last one alone would. After an answer without finite scores all is computed again.
    """

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        self._last: FeaturePredictor | None = None
        self._sums: Array = 0.0  # Σ_j Φ_j A_j of the last answer, in float64: errors of many looks add up

    def __call__(self, answer: Predictor) -> Array:
        """Return the scores of an answer, (n, C)."""
        if not isinstance(answer, FeaturePredictor):
            return answer.predict(self._rows)
        before: Sequence[Array]
        last = self._last
        if last is None or last.frequencies != answer.frequencies or not bool(abs(self._sums).max() < np.inf):
            self._sums, before = 0.0, ()
        else:
            before = last.coefficients
        after = answer.coefficients
        shared = min(len(before), len(after))
        moved = [number for number in range(shared) if after[number] is not before[number]]
        changes = [after[number] - before[number] for number in moved]
        changes += [*after[shared:], *(-block for block in before[shared:])]
        moved += range(shared, max(len(before), len(after)))
        sums = feature_scores(
            self._rows,
            lambda places: answer.frequencies.blocks([moved[place] for place in places]),
            changes,
            answer.num_outputs,
            answer.tensor_cores,
        )
        self._sums = self._sums + sums.astype(np.float64)
        self._last = answer
        return (answer.scale * self._sums).astype(sums.dtype)
