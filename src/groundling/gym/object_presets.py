"""Default settings of followers for worlds of objects."""

from __future__ import annotations

from typing import Any

from groundling.errors import SettingError, check_known
from groundling.features.feature_settings import Features
from groundling.follower import Follower
from groundling.inference.search import Search
from groundling.learning.settings import Learning
from groundling.models.transducer import TransducerModel
from groundling.overlay.settings import Overlay

# Cost of a part of the text that names no choice, and of each choice after the first. Not learnt,
# because most parts name exactly one choice.
_COST = 2.3
# demonstrations are assumed to have no errors
_LEARNING = Learning(l2=0.02, iterations=200, tolerance=1e-5)


def _features(slots: tuple[str, ...]) -> Features:
    return Features(
        words=("word",), slots=slots, numbers=("equal",), joins=("conjunction", "slot"),
        promote=(),
    )  # fmt: skip


def make_follower(slots: tuple[str, ...], **changes: Any) -> Follower:
    """Return an untrained follower whose actions are choices of objects.

    Words match the values of `slots` by spelling. `changes` are settings of `Follower` that replace
    the defaults, such as `search__threshold`.

    >>> make_follower(("colour",)).features.slots
    ('colour',)
    >>> make_follower(("colour",), search__threshold=0.7).threshold
    0.7
    """
    settings: dict[str, Any] = {
        "model": TransducerModel(unaligned_cost=_COST, fertility_cost=_COST),
        "overlay": Overlay.bag(),
        "features": _features(slots),
        "learning": _LEARNING,
        "search": Search(max_length=12, beam=3, budget=200_000, decode="outcome"),
        "parser": "chain:english",
    }
    return _changed(settings, changes)


def make_move_follower(slots: tuple[str, ...], **changes: Any) -> Follower:
    """Return an untrained follower whose actions are single moves of the simulator.

    A part of the text may describe several moves. Its words align with the graph in text order, so
    that *red* and *ball* refer to the same thing.

    >>> make_move_follower(("colour",)).overlay.nodes
    'graph'
    """
    settings: dict[str, Any] = {
        "model": TransducerModel(unaligned_cost=_COST),
        "overlay": Overlay(skeleton="chain", edge_scores=False),
        "features": _features(slots),
        "learning": _LEARNING,
        "search": Search(max_length=40, beam=5, budget=200_000),
        "parser": "chain:english",
    }
    return _changed(settings, changes)


def _changed(settings: dict[str, Any], changes: dict[str, Any]) -> Follower:
    if "threshold" in changes:
        raise SettingError(
            "`threshold` must be passed as `search__threshold`. Use "
            "follower(search__threshold=…), or pass threshold=… to the agent."
        )
    whole = {name: value for name, value in changes.items() if "__" not in name}
    known = Follower().get_params(deep=False)
    for name in whole:
        check_known(name, known, "A follower has no setting")
    inside = {name: value for name, value in changes.items() if "__" in name}
    return Follower(**{**settings, **whole}).set_params(**inside)
