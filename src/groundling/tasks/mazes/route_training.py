"""What followers of whole routes learn from: sentences, paragraphs, negative starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groundling.follower import Follower
from groundling.language.instruction import Instruction
from groundling.language.languages import ENGLISH
from groundling.language.parser import load_parser
from groundling.language.units import split_commands
from groundling.tasks.mazes.actions import MazeState
from groundling.tasks.mazes.corpus import Sail
from groundling.tasks.mazes.environment import MazeEnvironment
from groundling.tasks.mazes.negative_starts import add_negative_starts
from groundling.tasks.mazes.presets import Preset
from groundling.tasks.mazes.protocol import prepare_sentences
from groundling.tasks.mazes.routes import Paragraph, segment
from groundling.world.composition import compose
from groundling.world.environment import Demonstration

__all__ = ["COMPOSED", "TRAINING", "RouteData", "Training", "prepare_routes", "train_routes"]

ROUGH = 15  # iterations of training in all rounds but the last


@dataclass(frozen=True)
class RouteData:
    """What there is to learn from in one map."""

    sentences: list[Demonstration]
    dropped: list[Demonstration]
    paragraphs: list[Paragraph]


def prepare_routes(chosen: Preset, sail: Sail) -> dict[str, RouteData]:
    """Return sentences, dropped sentences and whole routes of each map as a preset wants them."""
    singles = prepare_sentences(chosen, sail)
    dropped = prepare_sentences(
        chosen,
        Sail(
            {name: replace(each, sentences=each.dropped) for name, each in sail.mazes.items()},
            sail.report,
        ),
    )
    parser = load_parser(chosen.parser)
    found = {}
    for name, corpus in sail.mazes.items():
        # One environment for all: what it looks like is asked for once.
        world = MazeEnvironment(corpus.environment.maze, **chosen.environment)
        paragraphs = []
        texts = parser.parse_many(
            [str(text) for each in corpus.paragraphs for text in each.instructions]
        )
        waiting = iter(texts)
        for each in corpus.paragraphs:
            assert isinstance(each.start, MazeState)
            paragraphs.append(
                Paragraph(
                    each.name,
                    world,
                    each.start,
                    tuple(_split(chosen, next(waiting)) for _ in each.instructions),
                    each.actions,  # type: ignore[arg-type]
                    corpus.destinations.get(each.name),
                )
            )
        found[name] = RouteData(
            [replace(each, environment=world) for each in singles[name]],
            [replace(each, environment=world) for each in dropped[name]],
            paragraphs,
        )
    return found


def _split(chosen: Preset, parsed: Sequence[Instruction]) -> tuple[Instruction, ...]:
    if not chosen.split_commands:
        return tuple(parsed)
    return tuple(part for sentence in parsed for part in split_commands(sentence, ENGLISH))


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


def train_routes(
    chosen: Preset,
    data: Sequence[RouteData],
    training: Training,
    *,
    seed: int = 0,
    threads: int = 1,
) -> Follower:
    """Train a follower of routes on some maps."""

    def fit(shown: Sequence[Demonstration], last: bool = True) -> Follower:
        # Composed before negative starts make two of one demonstration.
        wanted = replace(chosen, learning=replace(chosen.learning, composed=0.0))
        if last:
            longer: list[Demonstration] = []
            if training.composed:
                length = chosen.search.longest
                longer = compose(
                    shown, weight=training.composed, max_length=length, parser=chosen.parser
                )
            shown = add_negative_starts(
                shown,
                misread=training.misread,
                elsewhere=training.elsewhere,
                alone=training.alone,
                seed=seed,
            )
            shown = [*shown, *longer]
        else:
            iterations = min(ROUGH, chosen.learning.iterations)
            wanted = replace(wanted, learning=replace(wanted.learning, iterations=iterations))
        return wanted.follower(seed=seed, threads=threads).fit(shown, check=False)

    if training.rounds:
        routes = [route for each in data for route in each.paragraphs]
        follower = None
        for number in range(1, training.rounds + 1):
            follower = fit(segment(follower, routes), number == training.rounds)
        assert follower is not None
        return follower
    shown = [each for found in data for each in found.sentences]
    if training.dropped:
        shown += [each for found in data for each in found.dropped]
    return fit(shown)
