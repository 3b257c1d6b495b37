"""Explanations in words: plain text, and tables for a rich console."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from groundling.explain.explanation import (
    Cause,
    Contribution,
    Contributions,
    Deletion,
    ExplainedStep,
    Rival,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from groundling.explain.explanation import Explanation


SHOWN = 0.5  # minimum probability of a cause that is shown
FEATURES = 3
WORTH = 0.005  # minimum contribution of a feature that is shown
RECALLED = 1.0  # minimum contribution of a memory that is shown


def phrases(causes: Iterable[Cause], least: float = SHOWN) -> list[tuple[str, float]]:
    """Return the spans of text that cause an action, with their mean probabilities.

    Neighbouring units are joined into one span.

    >>> from groundling.explain.explanation import Unit
    >>> units = [Unit(0, (place,), word) for place, word in enumerate("go to the sofa".split())]
    >>> chances = (0.9, 0.7, 0.2, 1.0)
    >>> phrases(Cause(*each) for each in zip(units, chances))
    [('go to', 0.8), ('sofa', 1.0)]
    """
    found: list[list[Cause]] = []
    for cause in sorted(causes, key=lambda each: (each.unit.sentence, each.unit.words)):
        if cause.probability < least:
            continue
        last = found[-1][-1].unit if found else None
        if (
            last is not None
            and last.sentence == cause.unit.sentence
            and last.words[-1] + 1 == cause.unit.words[0]
        ):
            found[-1].append(cause)
        else:
            found.append([cause])
    return [
        (
            " ".join(each.unit.text for each in group),
            round(sum(each.probability for each in group) / len(group), 3),
        )
        for group in found
    ]


def _headline(why: Explanation) -> str:
    actions = ", ".join(step.action for step in why.steps)
    plan = why.plan
    return (
        f"{actions}  (probability {plan.probability:.2f}, confidence {plan.confidence:.2f}, "
        f"score {why.score:.2f})"
    )


def caused_by(step: ExplainedStep) -> str:
    """Return the spans of text that caused an action, or a note that there are none."""
    if step.asked:
        least = min(SHOWN, step.causes[0].probability)
        return ", ".join(f"“{said}” {p:.2f}" for said, p in phrases(step.causes, least))
    if not step.causes:
        return "not mentioned in the text"
    nearest = step.causes[0]
    return f"not mentioned in the text (closest: “{nearest.unit.text}” {nearest.probability:.2f})"


def _links(step: ExplainedStep) -> str:
    if len(step.nodes) < 2:
        return ""
    best = [link for link in step.links if link.probability >= 0.25]
    return ", ".join(f"{link.word} → {link.node} {link.probability:.2f}" for link in best)


def _same_reasons(why: Explanation) -> list[int | None]:
    """Return, for each action, the number of the first action with the same rival.

    The number is None if no earlier action has this rival.
    """
    first: dict[tuple[str, ...], int] = {}
    found: list[int | None] = []
    for number, step in enumerate(why.steps, 1):
        rival = None if step.asked else step.without
        found.append(first.get(rival.actions) if rival else None)
        if rival is not None:
            first.setdefault(rival.actions, number)
    return found


def why_added(step: ExplainedStep, same: int | None = None) -> list[str]:
    """Return the reasons for an action that the text does not mention.

    `same` is the number of an earlier action with the same reasons, if there is one.
    """
    said = []
    if same is not None:
        said.append(f"for the same reason as action {same}")
    elif step.without is not None:
        rival = step.without
        said.append(
            f"without it the best plan is {', '.join(rival.actions)}, which scores "
            f"{rival.margin:.2f} less"
            if rival.margin >= 0
            else f"the plan {', '.join(rival.actions)} lacks it and scores "
            f"{-rival.margin:.2f} more, but its outcome is less probable"
        )
        said += [f"    {each}" for each in rival.features.favouring(FEATURES)]
    else:
        said.append("every considered plan has it")
    if step.own.features:
        said.append(f"regardless of the text, such an action scores {step.own.total:+.2f}")
        said += [f"    {each}" for each in step.own.features[:FEATURES]]
    return said


def _behind(rival: Rival) -> str:
    where = f"{abs(rival.margin):.2f} {'behind' if rival.margin >= 0 else 'ahead'}"
    return f"{', '.join(rival.actions)}  (probability {rival.probability:.2f}, {where})"


def plain(why: Explanation) -> str:
    """Return an explanation as text of several lines, as printed by `explain`."""
    lines = [_headline(why)]
    if (shown := why.plan.remembered) is not None and shown.amount >= RECALLED:
        lines.append(f"similar demonstration: {shown}")
    for number, (step, same) in enumerate(zip(why.steps, _same_reasons(why), strict=True), 1):
        lines += ["", f"{number}. {step.action}: {caused_by(step)}"]
        if not step.asked:
            lines += [f"   {each}" for each in why_added(step, same)]
            continue
        if step.meanings:
            lines.append(f"   {'; '.join(step.meanings)}")
        if links := _links(step):
            lines.append(f"   words on nodes: {links}")
        for name, features in _sides(step.text):
            lines += [f"   {name:<8} {each}" for each in features]
        if step.without is not None:
            lines.append(f"   without  {_behind(step.without)}")
    lines += ["", f"the plan as a whole {why.whole.total:+.2f}, ambiguity {why.ambiguity:+.2f}"]
    for rival in why.rivals:
        lines += ["", f"Instead: {_behind(rival)}", f"   {rival.differs}"]
        for name, features in _sides(rival.features):
            lines += [f"   {name:<8} {each}" for each in features]
        lines.append(f"   {'readings':<8} {rival.ambiguity:+.2f}")
    if most := _weightiest(why):
        lines += ["", "Words left out:"]
        lines += [f"   {each}" for each in most]
    return "\n".join(lines)


def _sides(features: Contributions) -> list[tuple[str, tuple[Contribution, ...]]]:
    sides = (("for", features.favouring(FEATURES)), ("against", features.against(FEATURES)))
    return [
        (name, tuple(each for each in side if abs(each.amount) >= WORTH)) for name, side in sides
    ]


def _weightiest(why: Explanation, most: int = 5) -> list[str]:
    """Return lines about the words whose deletion changes the plan's lead most.

    Without rivals, the score counts instead of the lead.
    """

    def size(each: Deletion) -> float:
        return -abs(each.score if each.margin is None else each.margin)

    said = []
    for each in sorted(why.deletions, key=size)[:most]:
        line = f"“{each.word}”: score {each.score:+.2f}"
        if each.margin is not None and why.margin is not None:
            line += f", lead {why.margin:.2f} → {why.margin + each.margin:.2f}"
        said.append(line)
    return said


def renderable(why: Explanation) -> RenderableType:
    """Return an explanation as tables for a rich console."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(show_lines=True, expand=False, title=Text(_headline(why)), title_justify="left")
    table.add_column("action", style="bold", overflow="fold")
    table.add_column("mentioned by", overflow="fold")
    links = any(step.asked and _links(step) for step in why.steps)
    if links:
        table.add_column("words on nodes")
    table.add_column("features", overflow="fold")
    for step, same in zip(why.steps, _same_reasons(why), strict=True):
        mentioned = Text(caused_by(step), "" if step.asked else "yellow")
        features = Text()
        if step.asked:
            mentioned.append("".join(f"\n{each}" for each in step.meanings))
            for each in (each for _, side in _sides(step.text) for each in side):
                features.append(f"{each.amount:+.2f}", "green" if each.amount > 0 else "red")
                features.append(f"  {each.feature}\n")
            features.rstrip()
        else:
            features.append("\n".join(why_added(step, same)))
        middle = [Text(_links(step) if step.asked else "")] if links else []
        table.add_row(Text(step.action), mentioned, *middle, features)
    parts: list[RenderableType] = [table]
    if why.rivals:
        rivals = Table(title="considered instead", title_justify="left")
        for name in ("plan", "probability", "behind by", "mostly through"):
            right = name in ("probability", "behind by")
            rivals.add_column(name, justify="right" if right else "left", overflow="fold")
        for rival in why.rivals:
            most = rival.features.features[:FEATURES]
            through = "\n".join(str(each) for each in most if abs(each.amount) >= WORTH)
            rivals.add_row(
                Text(", ".join(rival.actions)),
                f"{rival.probability:.2f}",
                f"{rival.margin:.2f}",
                Text(through),
            )
        parts.append(rivals)
    if said := _weightiest(why):
        parts.append(Text("words left out: " + "; ".join(said)))
    return Group(*parts)
