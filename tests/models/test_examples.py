"""Demonstrations are read and checked; mirror images share their weight."""

import pytest

from groundling import Demonstration, Follower
from groundling.errors import DemonstrationError, GraphError, WorldError
from groundling.models.example import prepare
from groundling.models.lengths import LengthModel
from tests.worlds import Line, line_demonstrations, workbench


class Mirrored(Line):
    """A line that can be turned round."""

    def mirror(self, demonstration):
        swap = {"left": "right", "right": "left"}
        return [
            Demonstration(
                " ".join(swap.get(word, word) for word in str(demonstration.instructions).split()),
                self,
                self.size - 1 - demonstration.start,
                tuple(swap[action] for action in demonstration.actions),
            )
        ]


def test_examples_mirror_images_share_the_weight():
    encoder, _ = workbench()
    shown = Demonstration("go left", Mirrored(), 2, ("left",), weight=3.0)
    examples = prepare(encoder, [shown], augment=True)
    assert [example.weight for example in examples] == [1.5, 1.5]
    assert examples[1].trajectory.actions == ("right",)
    assert examples[0].group == examples[1].group


def test_examples_without_augmenting_stay_alone():
    encoder, _ = workbench()
    shown = Demonstration("go left", Mirrored(), 2, ("left",))
    assert len(prepare(encoder, [shown], augment=False)) == 1


def test_examples_mirror_images_teach_the_other_side():
    shown = [
        Demonstration("go left", Mirrored(), 2, ("left",)),
        Demonstration("move left", Mirrored(), 1, ("left",)),
    ]
    follower = Follower(parser="chain").fit(shown)
    assert follower.follow("go right", Mirrored(), 1).actions == ("right",)


def test_examples_need_at_least_one_demonstration():
    with pytest.raises(DemonstrationError, match="needs at least one demonstration"):
        Follower(parser="chain").fit([])


def test_examples_must_be_demonstrations():
    with pytest.raises(DemonstrationError, match=r"Demonstration 2 must be .*got tuple"):
        Follower(parser="chain").fit([line_demonstrations()[0], ("go left", ("left",))])


def test_examples_name_the_impossible_action():
    shown = Demonstration("fly up", Line(), 1, ("right", "up"))
    with pytest.raises(DemonstrationError) as caught:
        Follower(parser="chain").fit([shown])
    message = str(caught.value)
    assert "The demonstration 'fly up': action 2, 'up', is impossible in state 2" in message
    assert "Possible there: 'left', 'right'" in message


@pytest.mark.parametrize("text", ["", "   ", []])
def test_examples_say_which_text_is_empty(text):
    shown = [line_demonstrations()[0], Demonstration(text, Line(), 1, ("left",))]
    with pytest.raises(DemonstrationError, match="Demonstration 2"):
        Follower(parser="chain").fit(shown)


def test_examples_need_actions():
    with pytest.raises(DemonstrationError, match="'wait' must have at least one action"):
        Follower(parser="chain").fit([Demonstration("wait", Line(), 1, ())])


def test_examples_with_nan_labels_say_where():
    class Broken(Line):
        def ground(self, state, action, after):
            from groundling import GroundingGraph

            return GroundingGraph({"event": {"speed": float("nan")}})

    with pytest.raises(GraphError) as caught:
        Follower(parser="chain").fit([Demonstration("go", Broken(), 1, ("left",))])
    message = str(caught.value)
    assert "Broken.ground(1, 'left', 0)" in message
    assert "'speed' of node 'event' must be finite; got nan" in message
    assert "Leave the label out" in message


def test_examples_with_empty_graphs_say_where():
    class Broken(Line):
        def ground(self, state, action, after):
            from groundling import GroundingGraph

            return GroundingGraph({})

    with pytest.raises(GraphError, match=r"Broken.ground\(1, 'left', 0\): .* at least one node"):
        Follower(parser="chain").fit([Demonstration("go", Broken(), 1, ("left",))])


def test_examples_with_unhashable_starts_are_refused():
    with pytest.raises(WorldError, match="must be hashable"):
        Follower(parser="chain").fit([Demonstration("go", Line(), [1], ("left",))])


def test_lengths_prefer_what_was_seen_and_back_off():
    model = LengthModel().fit([(1, 1), (1, 1), (1, 2), (2, 2)])
    assert model.score(1, units=1) > model.score(2, units=1) > model.score(3, units=1)
    assert model.score(2, units=9) > model.score(3, units=9)
    assert model.score(50, units=1) < 0
