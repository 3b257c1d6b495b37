"""Models that version 0.1.0 saved, and how they were made.

Run with that version installed, `python -m tests.oldmodels FOLDER` writes them and the answers
they gave. `tests/data/models` holds what it wrote, and `tests/test_io_before.py` asks again.
"""

import json
import sys
from pathlib import Path

from groundling import Demonstration, Features, Follower, GroundingGraph, Learning, Overlay, Search

FOLDER = Path(__file__).parent / "data" / "models" / "0.1.0"


class Street:
    """Five houses in a row, each with a sign; the agent walks, or turns round."""

    def __init__(self, *signs):
        self.signs = signs or ("bakery", "mill", "school", "chapel", "forge")

    def actions(self, state):
        place, facing = state
        return ("walk", "turn") if 0 <= place + facing < len(self.signs) else ("turn",)

    def step(self, state, action):
        place, facing = state
        return (place + facing, facing) if action == "walk" else (place, -facing)

    def ground(self, state, action, after):
        place, facing = after
        ahead = place + facing
        known = 0 <= ahead < len(self.signs)
        left = len(self.signs) - 1 - place if facing > 0 else place
        return GroundingGraph(
            {
                "event": action,
                "here": {"sign": self.signs[place]},
                "view": {"sign": self.signs[ahead] if known else None, "houses": left},
            },
            [("event", "here", "to"), ("here", "view", "ahead")],
        )

    def label_plan(self, start, actions, states):
        return {"turns": actions.count("turn")}


TOLD = (
    ("walk to the mill", (0, 1), ("walk",)),
    ("turn around", (1, 1), ("turn",)),
    ("go on to the school", (1, 1), ("walk",)),
    ("go back to the bakery", (1, 1), ("turn", "walk")),
    ("turn around and walk to the chapel", (4, 1), ("turn", "walk")),
    ("walk two houses", (2, 1), ("walk", "walk")),
    ("turn around. walk to the mill", (2, 1), ("turn", "walk")),
    ("pass the smithy. turn", (3, 1), ("walk", "turn")),
)
SYNONYMS = {"mill": "wheel", "school": "pupils", "chapel": "bells", "forge": "smithy"}
NEAR = (
    (-1, 1, ("walk",)),
    (1, 1, ("turn", "walk")),
    (-1, -1, ("turn", "walk")),
    (1, -1, ("walk",)),
)
"""From beside a house, facing it or not, and how to get there."""
VERBS = ("reach", "visit", "find", "see", "enter")
ASKED = (
    ("go to the chapel", (2, 1)),
    ("turn around. go to the school", (3, 1)),
    ("walk two houses then turn", (0, 1)),
    ("see the smithy", (3, 1)),
)
ELSEWHERE = ("fountain", "mill", "library", "gate", "school")
"""Signs that training never saw."""


def requests():
    """Return what the models were asked."""
    asked = [(text, Street(), start) for text, start in ASKED]
    return [*asked, ("walk past the library", Street(*ELSEWHERE), (0, 1))]


def answers(follower):
    """Return what a follower answers, in a form that files keep."""
    return [
        {
            "confidence": plan.confidence,
            "plans": [
                [list(each.actions), each.log_probability] for each in (plan, *plan.alternatives)
            ],
        }
        for plan in follower.follow_many(requests())
    ]


def followers():
    """Return the followers by name, as version 0.1.0 writes them down."""
    from groundling import Partner

    words = Features(words=("word",), slots=("sign",), joins=("conjunction", "slot"))
    plain = Features(words=("word",), joins=("conjunction",), numbers=("bins",))
    linked = Overlay(skip=0.5, plan_words=True)
    decisions = {"normalise": "decisions", "l2": 0.3}
    return {
        "plans": {"overlay": linked, "features": words},
        "partner": {
            "overlay": Overlay.flat(),
            "features": words,
            "partners": [
                Partner(
                    Overlay(skeleton="chain", unit="word", nodes="flat", plan_words=True,
                            advance_scores=True, skip=2.0, entry="any"),
                    Features(words=("word", "previous"), slots=("sign",), composed=0.6,
                             joins=("conjunction", "slot"), min_word_count=2),
                )
            ],
        },
        "lexicon": {
            "overlay": Overlay.flat(),
            "features": Features(
                words=("word",), slots=("sign",), lexicon="learn", joins=("conjunction", "slot")
            ),
        },
        "bag": {
            "overlay": Overlay.bag(),
            "features": plain,
            "search": Search(max_length=3, decode="outcome", threshold=0.2),
        },
        "viterbi": {
            "overlay": Overlay(unit="sentence"),
            "features": words,
            "learning": Learning(alignment="viterbi", begin="alignment", last_to_last=True,
                                 **decisions),
            "search": Search(max_length=3, restarts=4, rounds=3, beam=8),
        },
        "all": {
            "overlay": Overlay.bag(),
            "features": plain,
            "learning": Learning(alignment="all", alternatives=3, alternatives_from="path",
                                 **decisions),
            "search": Search(max_length=2, compare="text", planning=False),
        },
        "units": {
            "overlay": Overlay(unit="clause"),
            "features": words,
            "learning": Learning(alignment="marginal", idle=0.4, repeat=0.2, **decisions),
            "search": Search(max_length=3, bonus=0.5, evidence=0.25),
        },
        "one-action-units": {
            "overlay": Overlay(unit="word"),
            "features": plain,
            "learning": Learning(alignment="marginal", again=False, **decisions),
            "search": Search(max_length=3, beam=None),
        },
    }  # fmt: skip


def as_format_1(folder):
    """Change a model into one of the first format, which had no partners."""
    from hashlib import sha256

    from groundling.saving import _own_sum

    manifest = json.loads((folder / "manifest.json").read_text())
    tables = json.loads((folder / "tables.json").read_text())
    manifest["version"] = 1
    del tables["partners"]
    manifest["settings"].pop("partners", None)
    data = json.dumps(tables, ensure_ascii=False).encode()
    (folder / "tables.json").write_bytes(data)
    manifest["sha256"]["tables.json"] = sha256(data).hexdigest()
    manifest["sha256"]["manifest.json"] = _own_sum(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


def main(target):
    """Train all followers, and write them with what they answer."""
    told = [Demonstration(text, Street(), start, actions) for text, start, actions in TOLD]
    named = [
        Demonstration(f"{verb} the {word}", Street(), (place + side, facing), actions)
        for number, verb in enumerate(VERBS)
        for place, words in enumerate(SYNONYMS.items(), 1)
        for word in words
        for side, facing, actions in (NEAR[(number + place) % len(NEAR)],)
        if place + side < 5
    ]
    for name, settings in followers().items():
        chosen = {"search": Search(max_length=3), "learning": Learning(l2=0.1), "parser": "chain"}
        shown = told + named if name == "lexicon" else told
        follower = Follower(**(chosen | settings)).fit(shown)
        if name in ("plans", "units"):
            follower.calibrate(told)
        for kept in (name, f"{name}-1") if name in ("plans", "viterbi") else (name,):
            folder = follower.save(target / kept)
            if kept != name:
                as_format_1(folder)
            given = json.dumps(answers(follower), indent=1)
            (folder / "answers.json").write_text(given + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
