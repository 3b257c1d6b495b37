"""Every model with settings it can learn a little with, for those who must try all of them."""

from __future__ import annotations

from typing import Any

from groundling.models.decision import DecisionModel
from groundling.models.plan import PlanModel
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay


def every_model() -> list[dict[str, Any]]:
    """Return settings of a follower for each model that is not made of others.

    >>> [type(each["model"]).__name__ for each in every_model()]
    ['PlanModel', 'PlanModel', 'DecisionModel', 'TransducerModel']
    """
    return [
        {"model": PlanModel()},
        {"model": PlanModel.flat(), "overlay": Overlay.flat()},
        {"model": DecisionModel()},
        {"model": TransducerModel()},
    ]
