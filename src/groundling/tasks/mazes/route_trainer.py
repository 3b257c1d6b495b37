"""What followers of whole routes learn from: sentences, paragraphs, negative starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from groundling.follower import Follower
from groundling.language.parser import load_parser
from groundling.tasks.mazes.actions import MazeAction, MazeState
from groundling.tasks.mazes.corpus import Sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.maze_presets import MazePreset
from groundling.tasks.mazes.negative_starts import add_negative_starts
from groundling.tasks.mazes.routes import Paragraph, segment
from groundling.tasks.mazes.single_sentences import prepare_sentences, units
from groundling.world.composition import compose
from groundling.world.environment import Demonstration

ROUGH = 15  # iterations of training in all rounds but the last


@dataclass(frozen=True)
class RouteData:
    """What there is to learn from in one map."""

    sentences: list[Demonstration]
    dropped: list[Demonstration]
    paragraphs: list[Paragraph]


def prepare_routes(chosen: MazePreset, sail: Sail) -> dict[str, RouteData]:
    """Return sentences, dropped sentences and whole routes of each map as a preset wants them."""
    without = {name: replace(each, sentences=each.dropped) for name, each in sail.mazes.items()}
    singles = prepare_sentences(chosen, sail)
    dropped = prepare_sentences(chosen, Sail(without, sail.report))
    parser = load_parser(chosen.parser)
    found = {}
    for name, corpus in sail.mazes.items():
        # One environment for all: what it looks like is asked for once.
        world = MazeEnvironment(corpus.environment.maze, **chosen.environment)
        texts = iter(
            parser.parse_many(
                [str(text) for each in corpus.paragraphs for text in each.instructions]
            )
        )
        found[name] = RouteData(
            [replace(each, environment=world) for each in singles[name]],
            [replace(each, environment=world) for each in dropped[name]],
            [
                Paragraph(
                    each.name,
                    world,
                    cast(MazeState, each.start),
                    tuple(units(chosen, next(texts)) for _ in each.instructions),
                    cast(tuple[MazeAction, ...], each.actions),
                    corpus.destinations.get(each.name),
                )
                for each in corpus.paragraphs
            ],
        )
    return found


@dataclass(frozen=True)
class Training:
    """What a follower of routes learns from.

    Parameters
    ----------
    sentences
        Single sentences with what each asks for.
    dropped
        From the paragraphs: the sentences that the single ones leave out, as `stay`.
    rounds
        Paragraphs without the single sentences: how often to cut the demonstrated way at
        the ends of sentences as the follower of the round before finds best, and to learn
        from the parts (the first cuts are equal shares).
    misread, elsewhere, alone
        Negative starts, as `add_negative_starts` takes them.
    composed
        The weight of composed demonstrations, as `compose` takes it. They have no negative
        starts.
    """

    sentences: bool = True
    dropped: bool = False
    rounds: int = 0
    misread: int = 0
    elsewhere: int = 0
    alone: float = 0.0
    composed: float = 0.0


COMPOSED = "single sentences and paragraphs, rival starts, composed"
TRAINING = {
    "single sentences": Training(),
    "single sentences and paragraphs": Training(dropped=True),
    "single sentences and paragraphs, rival starts": Training(
        dropped=True, misread=6, elsewhere=3, alone=0.5
    ),
    COMPOSED: Training(dropped=True, misread=6, elsewhere=3, alone=0.5, composed=0.5),
    "paragraphs alone, rival starts": Training(
        sentences=False, rounds=4, misread=6, elsewhere=3, alone=0.5
    ),
}


def train_routes(chosen: MazePreset, data: Sequence[RouteData], training: Training) -> Follower:
    """Train a follower of routes on some maps."""
    # Composed here, before negative starts make two of one demonstration.
    chosen = replace(chosen, learning=replace(chosen.learning, composed=0.0))
    if not training.rounds:
        shown = [each for found in data for each in found.sentences]
        if training.dropped:
            shown += [each for found in data for each in found.dropped]
        return _fit(chosen, shown, training)
    rough = min(ROUGH, chosen.learning.iterations)
    first = replace(chosen, learning=replace(chosen.learning, iterations=rough))
    routes = [route for each in data for route in each.paragraphs]
    follower = None
    for _ in range(training.rounds - 1):
        follower = first.follower().fit(segment(follower, routes), check=False)
    return _fit(chosen, segment(follower, routes), training)


def _fit(chosen: MazePreset, shown: Sequence[Demonstration], training: Training) -> Follower:
    longer: list[Demonstration] = []
    if training.composed:
        longer = compose(
            shown, weight=training.composed, max_length=chosen.search.longest, parser=chosen.parser
        )
    with_rivals = add_negative_starts(
        shown, misread=training.misread, elsewhere=training.elsewhere, alone=training.alone
    )
    return chosen.follower().fit([*with_rivals, *longer], check=False)
