"""Optuna's tree-structured Parzen estimator as a tuner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from benchfw import Choice, Integer, Linear, Log, Unavailable
from benchfw.tuning import Setting, Tried

Space: TypeAlias = Choice | Integer | Linear | Log


@dataclass(frozen=True)
class OptunaTPE:
    """Optuna's tree-structured Parzen estimator (Bergstra et al. 2011): settings like the best so far."""

    is_sequence: ClassVar[bool] = False

    def propose(
        self, spaces: Mapping[str, Space], trials: int, seed: int, tried: Sequence[Tried]
    ) -> list[Setting]:
        """Return one setting more."""
        if len(tried) >= trials:
            return []
        try:
            import optuna
        except ImportError:
            raise Unavailable(
                "the tuner 'optuna' needs Optuna; pip install 'benchfw-bridges[optuna]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        laws = {path: _distribution(optuna.distributions, space) for path, space in spaces.items()}
        # each call has a seed of its own, or two calls with the same results would propose the same
        sampler = optuna.samplers.TPESampler(seed=(seed + len(tried)) % 2**32)
        study = optuna.create_study(sampler=sampler)
        for each in tried:
            params = {path: _to_optuna(spaces[path], value) for path, value in each.setting.items()}
            study.add_trial(
                optuna.trial.create_trial(params=params, distributions=laws, value=float(each.rank))
            )
        proposed = study.ask(laws).params
        return [{path: _from_optuna(space, proposed[path]) for path, space in spaces.items()}]


def _distribution(distributions: Any, space: Space) -> Any:
    match space:
        case Choice(values=values):
            return distributions.CategoricalDistribution(list(range(len(values))))
        case Integer(low, high, log):
            return distributions.IntDistribution(low, high, log=log)
        case _:
            return distributions.FloatDistribution(space.low, space.high, log=isinstance(space, Log))


def _to_optuna(space: Space, value: Any) -> Any:
    return space.values.index(value) if isinstance(space, Choice) else value


def _from_optuna(space: Space, value: Any) -> Any:
    if isinstance(space, Choice):
        return space.values[value]
    return value if isinstance(space, Integer) else space.value(space.place(value))
