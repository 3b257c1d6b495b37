"""Models of version 0.1.0, translated into what files hold today."""

from __future__ import annotations

from typing import Any

__all__ = ["translate"]

_PLAN = {"plan_scores", "plan_words", "advance_scores", "skip"}
_NEUTRAL = {"null_node": False, "skip_before": 0.0, "skip_after": 0.0}


def translate(
    settings: dict[str, Any], tables: dict[str, Any], arrays: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return settings, tables and arrays of format 1 or 2 as format 3 has them.

    What version 0.1.0 could do and this one cannot is refused with what it was.
    """
    learning, search = settings["learning"], settings["search"]
    overlays = [settings["overlay"], *settings.get("partners", ())]
    tabled = [tables, *tables.get("partners", ())]
    model = _model(learning, search, overlays[0])
    chosen: dict[str, Any] = {
        "model": model,
        "learning": {
            "augment": learning["mirror"],
            **{name: learning[name] for name in ("l1", "l2", "iterations", "tolerance")},
            "rounds": 5 if model["kind"] == "TransducerModel" else learning["rounds"],
        },
        "search": {
            name: search[name]
            for name in ("max_length", "min_length", "budget", "planning", "decode", "threshold")
        },
        **{name: settings[name] for name in ("seed", "threads", "parser", "parser_name")},
    }
    if search["planning"]:
        chosen["search"]["beam"] = search["beam"]
    members = [
        {
            "overlay": _overlay(overlay),
            "features": _features(each["features"]),
            **{
                name: each[name]
                for name in ("word_names", "node_names", "values", "counts", "context_words")
            },
        }
        for overlay, each in zip(overlays, tabled, strict=True)
    ]
    numbered = {
        f"{name}{number}": arrays[f"{name}{number or ''}"]
        for number in range(len(members))
        for name in ("theta", "keys")
    }
    kept = {"members": members, "lexicon": tables["lexicon"], "lengths": tables["lengths"]}
    return chosen, kept, numbered


def _model(
    learning: dict[str, Any], search: dict[str, Any], overlay: dict[str, Any]
) -> dict[str, Any]:
    if learning["normalise"] == "plans":
        _refuse(learning["alignment"] == "viterbi", "alignment='viterbi' with whole plans")
        bag = overlay["skeleton"] == "bag"
        found = {name: overlay[name] for name in _PLAN}
        if bag:
            found |= {"advance_scores": False, "skip": 0.0}
        if not found["plan_scores"]:
            found["plan_words"] = False
        return {"kind": "PlanModel", **found, "alternatives": learning["alternatives"] or 50}
    if learning["alignment"] in ("marginal", "best"):
        _refuse(learning["alignment"] == "best", "alignment='best'")
        many = learning["again"]
        return {
            "kind": "TransducerModel",
            "allow_multiple": many,
            "unaligned_cost": learning.get("idle", 0.0),
            "fertility_cost": learning.get("repeat", 0.0) if many else 0.0,
            "length_bonus": search.get("bonus", 0.0),
            "normaliser_power": search.get("evidence", 0.0),
        }
    _refuse(learning["silence"] is not None, "silence")
    _refuse(search.get("joint", False), "joint search")
    every = learning["alignment"] == "all"
    found = {
        "kind": "DecisionModel",
        "aligned": "all" if every else "best",
        "compare": search["compare"],
        **{name: learning[name] for name in ("alternatives", "alternatives_from", "last_to_last")},
    }
    if not every:
        found |= {
            "begin": learning["begin"],
            "restarts": search["restarts"],
            "alternations": search["rounds"],
        }
    return found


def _overlay(kept: dict[str, Any]) -> dict[str, Any]:
    for name, value in _NEUTRAL.items():
        _refuse(kept.get(name, value) != value, name)
    dropped = {*_PLAN, *_NEUTRAL}
    if kept["nodes"] == "flat":
        dropped |= {"adjacency", "neighbours", "entry"}
    if kept["skeleton"] == "bag":
        dropped |= {"adjacency", "neighbours", "edge_scores"}
    return {name: value for name, value in kept.items() if name not in dropped}


def _features(kept: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in kept.items() if name not in ("composed", "bins")}
    _refuse(list(kept.get("bins", _BINS)) != _BINS and "bins" in kept["numbers"], "bins of its own")
    alone = {"word", "first", "tag", "string"}
    if set(kept["words"]) - alone:
        found["compound_weight"] = kept.get("composed", 1.0)
    return found


_BINS = [0.5, 1.5, 2.5, 4.5, 8.5, 16.5]


def _refuse(wrong: bool, what: str) -> None:
    if wrong:
        raise ValueError(f"it was trained by version 0.1.0 with {what}, which is no more")
