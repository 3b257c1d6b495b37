"""Mirror images in other languages, and mazes whose names tell nothing."""

import pytest

from groundling import Demonstration, Follower, Search
from groundling.errors import AugmentWarning
from groundling.language import language_of, load_parser
from groundling.tasks.mazes import Maze, MazeEnvironment, Swaps, find_swaps, rotate
from groundling.tasks.mazes.maze_presets import PRESETS
from groundling.tasks.mazes.mirror import mirror_text

MAZE = Maze("Two", {(3, 4): "lamp", (4, 4): ""}, [((3, 4), (4, 4), "wood", "fish")])
WORLD = MazeEnvironment(MAZE)


def test_mirror_finds_the_words_that_swap():
    shown = [
        Demonstration(f"{verb} {side}{end}", WORLD, WORLD.start((3, 4), 90), (rotate(angle),))
        for verb in ("dreh", "geh", "bieg")
        for end in ("", " ab", " um die ecke")
        for side, angle in (("links", 270), ("rechts", 90))
    ] * 4
    swaps = find_swaps(shown)
    assert swaps == Swaps({"links": "rechts"})
    assert mirror_text("Links, nicht rechts", swaps) == "Rechts, nicht links"


def test_mirror_has_no_image_of_a_word_without_a_pair():
    world = MazeEnvironment(MAZE, swaps=Swaps({}, frozenset({"links"})))
    turn = Demonstration("dreh links", world, world.start((3, 4), 90), (rotate(270),))
    assert world.mirror(turn) == ()
    around = Demonstration("dreh um", world, world.start((3, 4), 90), (rotate(180),))
    assert len(world.mirror(around)) == 1


def test_mirror_images_that_would_contradict_are_left_out():
    def turn(text, angle):
        return Demonstration(text, WORLD, WORLD.start((3, 4), 90), (rotate(angle),))

    shown = [turn(f"dreh links {n}", 270) for n in range(15)]
    shown += [turn(f"dreh rechts {n}", 90) for n in range(15)]
    with pytest.warns(AugmentWarning, match="would contradict the originals"):
        follower = Follower(parser="chain", search=Search(max_length=1)).fit(shown)
    assert follower.follow("dreh links", WORLD, WORLD.start((3, 4), 90)).actions == (rotate(270),)


def test_preset_of_opaque_names_hides_every_name():
    chosen = PRESETS.select("best", "opaque names")
    seen = chosen.world(MAZE).maze
    assert seen.item((3, 4)) != MAZE.item((3, 4))
    assert not any(letter.isalpha() for letter in seen.item((3, 4))[1:])
    assert language_of(load_parser(chosen.parser)).numeral("two") is None
    assert chosen.learning.augment is False
