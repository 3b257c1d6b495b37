"""Data for JSON that the page of the studio shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from groundling.agent import Turn
from groundling.explain.explanation import Explanation
from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.studio.pictures import name_action, picture
from groundling.studio.project import Project
from groundling.studio.scenes import StudioScene
from groundling.studio.store import Record
from groundling.world.cached_environment import CachedEnvironment
from groundling.world.environment import Action, State
from groundling.world.graph import GroundingGraph

SHOWN = 40  # maximum number of possible actions that a view lists
_WORD = re.compile(r"^word=(.+?) ∧ ")


def actions_view(
    project: Project, scene: StudioScene, actions: Sequence[Action]
) -> list[dict[str, Any]]:
    """Return actions as data for JSON, each with its label and its name in drawings."""
    written = project.write_actions(scene.name, actions)
    return [
        {"json": data, "label": name_action(scene.environment, each), "name": str(each)}
        for data, each in zip(written, actions, strict=True)
    ]


def frames(project: Project, scene: StudioScene, states: Sequence[State]) -> list[dict[str, Any]]:
    """Return states as data for JSON, each with its picture."""
    return [
        {
            "state": project.write_state(scene.name, state),
            **picture(scene.environment, states[: number + 1]).to_dict(),
        }
        for number, state in enumerate(states)
    ]


def walk(
    project: Project, scene: StudioScene, start: State, actions: Sequence[Action]
) -> dict[str, Any]:
    """Return actions, the states after them with pictures, and possible next actions."""
    world = CachedEnvironment(scene.environment)
    trace = world.trace(start, actions, "The plan")
    possible = world.actions(trace.states[-1])
    return {
        "actions": actions_view(project, scene, trace.actions),
        "frames": frames(project, scene, trace.states),
        "possible": actions_view(project, scene, possible[:SHOWN]),
        "more": max(0, len(possible) - SHOWN),
        "goal": world.is_goal(trace.states[-1]),
    }


def turn_view(project: Project, scene: StudioScene, turn: Turn, start: State) -> dict[str, Any]:
    """Return the text, actions, options and pictures of a dialogue turn.

    The entry `teaches` is the text to teach if the user confirms the plan, including the reply to a
    question.
    """
    plan = turn.plan if turn.kind == "act" else None
    states = (start,) if plan is None else plan.states
    shown = turn.demonstration.instructions if turn.demonstration is not None else turn.said
    return {
        "trained": True,
        "revision": project.learnt_revision,
        "kind": turn.kind,
        "text": "" if plan is not None else turn.text,
        "reason": turn.reason,
        "confidence": turn.confidence,
        "teaches": shown if isinstance(shown, str) else turn.said,
        "actions": [] if plan is None else actions_view(project, scene, plan.actions),
        "frames": frames(project, scene, states),
        "options": [
            {
                "text": each.text,
                "probability": each.probability,
                "actions": actions_view(project, scene, each.plan.actions),
            }
            for each in (() if plan is not None else turn.options)
        ],
        "by_value": plan is None and turn.by_value,
    }


def explanation_view(
    project: Project, scene: StudioScene, why: Explanation, most: int = 12
) -> dict[str, Any]:
    """Return an explanation, with the trees and graphs that the page draws."""
    told = why.to_dict(most)
    environment = scene.environment
    for step, shown, action in zip(why.steps, told["steps"], why.plan.actions, strict=True):
        shown["label"] = name_action(environment, action)
        shown.update(graph_view(step.graph))
    # Replace the strings of actions by the environment's names of actions.
    names = {str(action): name_action(environment, action) for plan in
             (why.plan, *why.plan.alternatives) for action in plan.actions}  # fmt: skip
    for rival in (*told["rivals"], *(s["without"] for s in told["steps"] if s["without"])):
        rival["labels"] = [names.get(each, each) for each in rival["actions"]]
    told["trees"] = trees_view(why.instructions)
    told["units"] = [
        {"sentence": each.sentence, "words": list(each.words), "text": each.text}
        for each in why.units
    ]
    return told


def graph_view(graph: GroundingGraph) -> dict[str, Any]:
    """Return the nodes, edges and labels of a grounding graph."""
    return {
        "nodes": [
            {"name": name, "labels": list(map(str, graph.labels(name)))}
            for name in graph.node_names
        ],
        "edges": [
            {"from": one, "to": two, "labels": list(map(str, labels))}
            for one, two, labels in graph.edges
        ],
    }


def trees_view(instructions: Sequence[Instruction]) -> list[dict[str, Any]]:
    """Return the dependency tree of each sentence, as words, heads and relations."""
    return [
        {"words": list(each.tokens), "heads": list(each.heads), "relations": list(each.relations)}
        for each in instructions
    ]


def record_view(project: Project, record: Record) -> dict[str, Any]:
    """Return a demonstration as a row of the table of examples."""
    try:
        scene = project.setting.scene(record.scene)
        actions = project.read_actions(record.scene, record.actions)
        labels = [name_action(scene.environment, each) for each in actions]
    except Exception:  # the world has changed, so show the stored actions
        labels = [str(each) for each in record.actions]
    return {**vars(record), "labels": labels, "problem": project.problem_of(record)}


def weights_of(follower: Follower, word: str, most: int = 30) -> list[dict[str, Any]]:
    """Return the weights of a word's features, strongest first."""
    start = f"word={word} ∧ "
    found = follower.weights(start, most=10_000)
    chosen = [(name, weight) for name, weight in found if name.startswith(start)]
    return [
        {"feature": name, "meaning": name.removeprefix(start), "weight": weight}
        for name, weight in chosen[:most]
    ]


def words_of(follower: Follower) -> list[dict[str, Any]]:
    """Return the words that the follower has learnt, each with its strongest feature."""
    best: dict[str, tuple[float, str, int]] = {}
    for name, weight in follower.weights(most=200_000):
        found = _WORD.match(name)
        if found:
            word = found[1]
            strength, meaning, count = best.get(word, (0.0, "", 0))
            if weight > strength:
                strength, meaning = weight, name[found.end() :]
            best[word] = (strength, meaning, count + 1)
    listed = sorted(best.items(), key=lambda each: (-each[1][0], each[0]))
    return [
        {"word": word, "weight": weight, "meaning": meaning, "features": count}
        for word, (weight, meaning, count) in listed
    ]
