"""Another world is noticed by labels that graphs had wherever a follower learnt."""

import pytest

from groundling import Demonstration, Follower, GroundingGraph
from groundling.checks.registry import missing_labels
from groundling.selection.label_profile import UsualLabels, usual_labels
from groundling.world import CachedEnvironment

KINDS = ("fan", "lamp", "radio", "stove")


class Home:
    """Things that are switched on and off; graphs say more or less of them."""

    def __init__(self, *, kinds=True, room=True):
        self.kinds, self.room = kinds, room

    def actions(self, on):
        return [("off" if kind in on else "on", kind) for kind in KINDS]

    def step(self, on, action):
        return on ^ {action[1]}

    def ground(self, on, action, after):
        thing = {"thing": action[1], action[1]: self.kinds, "room": "den" if self.room else None}
        nodes = {"event": {action[0]: True}, "thing": thing}
        return GroundingGraph(nodes, [("event", "thing", "of")])


NOTHING, ALL = frozenset(), frozenset(KINDS)


def shown(home):
    return [
        Demonstration(f"{way} with the {kind}", home, frozenset(on), ((way, kind),))
        for kind in KINDS
        for way, on in (("on", {"lamp", "fan"} - {kind}), ("off", {kind}))
    ]


@pytest.fixture(scope="module")
def follower():
    return Follower(parser="chain").fit(shown(Home()), check=False)


def test_usual_labels_are_those_of_every_start(follower):
    usual = usual_labels(follower._learnt)
    assert usual == UsualLabels(("room", "thing"), ("fan", "lamp", "off", "on", "radio", "stove"))
    assert UsualLabels.of([]) == UsualLabels()


def test_usual_labels_miss_one_with_a_value_or_several_without(follower):
    assert missing_labels(follower.learnt_, [(Home(), NOTHING), (Home(), frozenset({"fan"}))]) == ()
    [told] = missing_labels(follower.learnt_, [(Home(room=False), NOTHING)])
    assert told.kind == "another world"
    assert "No possible action here has the label 'room', which some action had" in str(told)
    [told] = missing_labels(follower.learnt_, [(Home(kinds=False), NOTHING)])
    assert "the labels 'fan', 'lamp', 'off', 'radio', 'stove'" in str(told)
    # Where all is on, nothing can be switched on.
    assert missing_labels(follower.learnt_, [(Home(), ALL)]) == ()


def test_usual_labels_are_kept_with_a_model(follower, tmp_path):
    loaded = Follower.load(follower.save(tmp_path / "one"))
    again = Follower.load(loaded.save(tmp_path / "two"))
    for each in (loaded, again):
        assert usual_labels(each._learnt) == usual_labels(follower._learnt)
        assert len(missing_labels(each.learnt_, [(Home(room=False), NOTHING)])) == 1


def test_usual_labels_are_a_finding_of_diagnose(follower):
    report = follower.diagnose(shown(Home(room=False)))
    assert "another world" in [each.kind for each in report.findings]
    report = follower.diagnose(shown(Home()))
    assert "another world" not in [each.kind for each in report.findings]


def test_usual_labels_do_not_count_where_labels_follow_the_text():
    class Episode(Home):
        labels_follow_text = True

    bare = CachedEnvironment(Episode(room=False))
    assert UsualLabels.of([(bare, NOTHING)]) == UsualLabels()
    assert UsualLabels(("room",)).missing([(bare, NOTHING)]) == ()


def test_usual_labels_do_not_keep_a_model_from_being_saved(tmp_path):
    home = Home()
    follower = Follower(parser="chain").fit(shown(home), check=False)
    follower.clear_cache()
    home.actions = None
    loaded = Follower.load(follower.save(tmp_path / "model"))
    assert usual_labels(loaded._learnt) == UsualLabels()
