"""Facts about demonstrations, from which settings are chosen."""

from groundling import Demonstration, Follower, GroundingGraph


def test_profile_takes_no_string_called_number_for_a_number():
    class Boxes:
        def actions(self, state):
            return ("one", "several", "many")

        def step(self, state, action):
            return action

        def ground(self, state, action, after):
            return GroundingGraph({"event": {"number": action}})

    texts = {"one": "kot", "several": "moli", "many": "zuf"}
    shown = [Demonstration(texts[each], Boxes(), "", (each,)) for each in texts] * 120
    follower = Follower(parser="chain").fit(shown, check=False)
    assert "number" not in follower.chosen().features.slots
    assert follower.follow("moli", Boxes(), "").actions == ("several",)
