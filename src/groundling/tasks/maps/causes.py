"""Why the follower made a move: the utterance, and the words in it, for the picture."""

from __future__ import annotations

from groundling.errors import SettingError
from groundling.explain.explanation import Plan
from groundling.tasks.maps.environment import MapState
from groundling.tasks.maps.picture import Cause
from groundling.world.environment import Demonstration

__all__ = ["cause_of"]


def cause_of(demonstration: Demonstration, plan: Plan, step: int) -> Cause:
    """Return what most probably caused the `step`-th move from landmark to landmark.

    `demonstration` is what the follower was asked to follow, as `prepare` made it.
    """
    places = [each.landmark for each in plan.states if isinstance(each, MapState)]
    moves = [j for j in range(len(plan)) if places[j] != places[j + 1]]
    if not 1 <= step <= len(moves):
        raise SettingError(f"There is no step {step}: the plan has {len(moves)} moves.")
    causes = plan.explain().steps[moves[step - 1]].causes
    if not causes:
        return Cause(step, "")
    best = max(causes, key=lambda each: each.probability)
    text = demonstration.instructions
    said = str(text[best.unit.sentence] if isinstance(text, tuple) else text)
    words, wanted = said.split(), best.unit.text.split()
    for first in range(len(words) - len(wanted) + 1):
        if words[first : first + len(wanted)] == wanted:
            return Cause(step, said, range(first, first + len(wanted)))
    # Words that were dropped before reading leave gaps.
    return Cause(step, said, [place for place, word in enumerate(words) if word in wanted])
