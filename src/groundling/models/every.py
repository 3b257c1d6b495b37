"""All models by name, with minimal settings for each."""

from __future__ import annotations

from typing import Any

from groundling.models.base import Model
from groundling.models.decision import DecisionModel
from groundling.models.ensemble import Ensemble
from groundling.models.plan import PlanModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay

MODELS: dict[str, type[Model]] = {
    kind.__name__: kind for kind in (PlanModel, DecisionModel, TransducerModel, Ensemble)
}
"""The models of this package by name."""


def every_model() -> list[dict[str, Any]]:
    """Return minimal follower settings for every model except ensembles.

    >>> [type(each["model"]).__name__ for each in every_model()]
    ['PlanModel', 'PlanModel', 'DecisionModel', 'TransducerModel']
    """
    return [
        {"model": PlanModel()},
        {"model": PlanModel.flat(), "overlay": Overlay.flat()},
        {"model": DecisionModel()},
        {"model": TransducerModel()},
    ]
