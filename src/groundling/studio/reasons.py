"""Reasons for a plan: the words for each action, and the plan without them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from groundling.errors import GroundlingError
from groundling.explain.explanation import ExplainedStep, Explanation
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.plan import Plan
from groundling.studio.pictures import name_action
from groundling.studio.scenes import StudioScene

LINKED = 0.3  # minimum alignment probability at which a word is a reason for an action
WITHOUT = 3  # maximum number of words that are left out, one at a time
RECALLED = 1.0  # minimum score from memory at which a demonstration is a reason


def reasons(follower: Follower, scene: StudioScene, plan: Plan) -> dict[str, Any]:
    """Return the reasons for each action of a plan as data for JSON.

    `steps` has an entry for each action, with the words that ask for it, the decisive word first.
    There are no words if the action is required but not mentioned. If leaving out the decisive word
    changes the plan, the entry also has the changed plan. `remembered` is the text of the
    demonstration that the plan repeats, if there is one.

    >>> from groundling.studio.gallery import open_gallery
    >>> setting = open_gallery("kitchen")
    >>> follower = setting.make().fit([each for _, each in setting.given()], check=False)
    >>> scene = setting.scenes[0]
    >>> plan = follower.follow("walk to the table", scene.environment, scene.start)
    >>> [step] = reasons(follower, scene, plan)["steps"]
    >>> step["label"], "table" in [each["word"] for each in step["words"]]
    ('go to the table', True)
    """
    why = plan.explain()
    weight = {(each.sentence, each.position): _lead(each) for each in why.deletions}
    language = follower.learnt_.fitted.encoder.reader.language
    plain = {*language.stop_words, *language.function_words}
    steps, left_out = [], 0
    for step, action in zip(why.steps, plan.actions, strict=True):
        words = _words(why, step, weight, plain)
        told: dict[str, Any] = {
            "label": name_action(scene.environment, action), "words": words, "without": None,
        }  # fmt: skip
        if words and left_out < WITHOUT:
            left_out += 1
            told["without"] = _without(follower, scene, plan, why.instructions, words[0])
        steps.append(told)
    shown = plan.remembered
    recalled = shown.shown.text if shown is not None and shown.amount >= RECALLED else None
    return {
        "steps": steps,
        "remembered": recalled,
        "words": [list(each.tokens) for each in why.instructions],
        "unexplained": list(plan.unexplained),
    }


def _lead(deletion: Any) -> float:
    return float(deletion.score if deletion.margin is None else deletion.margin)


def _words(
    why: Explanation,
    step: ExplainedStep,
    weight: dict[tuple[int, int], float],
    plain: Collection[str],
) -> list[dict[str, Any]]:
    """Return the words that ask for an action, the decisive word first.

    Words that spell a label of the action come before other words, which are sorted by importance.
    """
    share: dict[tuple[int, int], float] = {}
    for link in step.links:
        key = (link.sentence, link.position)
        share[key] = share.get(key, 0.0) + link.probability
    spelt = {
        word
        for name in step.graph.node_names
        for label in step.graph.labels(name)
        for word in str(label.name if label.value is None else label.value).casefold().split()
    }
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for sentence, instruction in enumerate(why.instructions):
        for position, word in enumerate(instruction.tokens):
            key = (sentence, position)
            named, linked = word.casefold() in spelt, share.get(key, 0.0) >= LINKED and step.asked
            if word.casefold() in plain or not (named or linked) or not word.isalnum():
                continue
            rank = (not named, weight.get(key, 0.0), *key)
            found.append((rank, {"sentence": sentence, "position": position, "word": word}))
    first: dict[str, dict[str, Any]] = {}  # a repeated word counts as one reason
    for _, each in sorted(found, key=lambda each: each[0]):
        first.setdefault(each["word"].casefold(), each)
    return list(first.values())


def _without(
    follower: Follower,
    scene: StudioScene,
    plan: Plan,
    text: Sequence[Instruction],
    word: dict[str, Any],
) -> list[str] | None:
    """Return the actions planned without a word, by name; None if nothing changes."""
    kept = []
    for number, each in enumerate(text):
        places = [
            p for p in range(len(each)) if (number, p) != (word["sentence"], word["position"])
        ]
        if places:
            kept.append(each.select(places))
    if not kept:
        return None
    try:
        other = follower.follow(tuple(kept), scene.environment, plan.start)
    except GroundlingError:
        return None
    if other.actions == plan.actions:
        return None
    return [name_action(scene.environment, each) for each in other.actions]
