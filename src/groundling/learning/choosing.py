"""Choices from the demonstrations: settings that nobody gave, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from groundling.features.feature_settings import Features
from groundling.inference.search import Search
from groundling.learning.facts import Facts
from groundling.learning.given import PARTS, REST, Tried, agrees, left_open, with_features
from groundling.learning.presets import (
    Configuration,
    configurations,
    features_beside,
    learning_for,
    model_for,
    overlay_for,
    search_beside,
    why_learning,
    with_second_member,
)
from groundling.learning.settings import Learning
from groundling.learning.trainer import Trainer
from groundling.learning.trying import briefly, pilot
from groundling.models.base import Model
from groundling.overlay.settings import Overlay
from groundling.settings import AUTO
from groundling.world.environment import Demonstration

__all__ = ["Choice", "Choices", "choose"]

_PILOT = 15  # demonstrations from which trying out tells something
_MILLIONS = 2_000_000  # plans that nobody counts
_CLEAN = 0.9  # share of right answers where language is clean
_CLOSE = 0.05  # shares of right answers that may differ by chance
_Tell = Callable[[str], object]


@dataclass(frozen=True)
class Choice:
    """Something that was chosen from the demonstrations.

    >>> print(Choice("Search.max_length", "1", "every demonstration has one action",
    ...              "follower.chosen().set_params(search__max_length=…)"))
    Search.max_length = 1: every demonstration has one action. To change it:
    follower.chosen().set_params(search__max_length=…)
    """

    what: str
    chosen: str
    why: str
    change: str

    def __str__(self) -> str:
        return f"{self.what} = {self.chosen}: {self.why}. To change it: {self.change}"


class Choices(tuple[Choice, ...]):
    """What was chosen from the demonstrations, printed a line each.

    `left_open` are the names of what nobody gave, and `tried` is what was tried out for it, for
    those who choose again when there are more demonstrations.

    >>> print(Choices())
    Nothing was left to choose.
    """

    left_open: tuple[str, ...]
    tried: tuple[Tried, ...]

    def __new__(
        cls,
        choices: Iterable[Choice] = (),
        left_open: Iterable[str] = (),
        tried: Iterable[Tried] = (),
    ) -> Self:
        """Keep choices, and what is needed to choose again."""
        made = super().__new__(cls, choices)
        made.left_open, made.tried = tuple(left_open), tuple(tried)
        return made

    def closed(self, group: str) -> Self:
        """Return the same where a group of settings was given since then.

        >>> Choices((), ("learning", "search.max_length")).closed("search").left_open
        ('learning',)
        """
        names = [name for name in self.left_open if name.partition(".")[0] != group]
        return type(self)(self, names, self.tried)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "Nothing was left to choose."

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(part)}</td>" for part in
                             (each.what, each.chosen, each.why, each.change)) + "</tr>"
            for each in self
        )  # fmt: skip
        head = "<tr><th>what</th><th>chosen</th><th>why</th><th>to change it</th></tr>"
        return f"<table>{head}{rows}</table>"


def choose(
    settings: Mapping[str, Any],
    demonstrations: Sequence[Demonstration],
    tell: _Tell = lambda what: None,
    tried: Sequence[Tried] = (),
) -> tuple[Trainer, Choices]:
    """Return settings without anything left open, and what was chosen and why.

    What is given is kept; if it is what would be chosen, so is the rest. The same demonstrations
    give the same choices, whatever their order. What was `tried` on fewer of them is not tried
    again while they are less than twice as many.
    """
    chosen = dict(settings)
    names = left_open(chosen)
    if not names:
        return Trainer(**chosen), Choices()
    tell("looking at the demonstrations")
    if REST in names:
        chosen["features"] = AUTO
    length = None if chosen["search"] == AUTO else chosen["search"].max_length
    given = {name: chosen[name] for name in PARTS if chosen[name] != AUTO}
    if length is not None:
        given["search"] = chosen["search"]
    found: list[Choice] = []
    facts = Facts(demonstrations, chosen["parser"])
    trials = _Trials(tell, tried)
    best = _as_given(chosen, given, facts, found, trials)
    if best is None:
        found.clear()
        if length is not None:  # for which plans are counted
            facts = Facts(demonstrations, chosen["parser"], length)
    if best is None and chosen["model"] == chosen["overlay"] == AUTO:
        options = with_features(chosen, configurations(facts))
        if options:
            best = _best(chosen, options, facts, found, trials)
    if best is not None:
        chosen |= {name: getattr(best, name) for name in PARTS}
        if "features" not in given:
            found += _feature_choices(best.features, facts, best.model)
        found = [each for each in found if _group(each) not in given]
    else:
        _fill(chosen, facts, found)
    found += _finish_search(chosen, facts, None if best is None else best.search)
    if REST in names:
        chosen["features"] = replace(chosen["features"], reorder=True)
    if chosen["learning"] == AUTO:
        chosen["learning"] = learning_for(facts, chosen["model"])
        found += _learning_choices(chosen["learning"], chosen["model"], facts)
    return Trainer(**chosen), Choices(found, names, trials.used)


def _group(choice: Choice) -> str:
    return choice.what.partition(".")[0].lower()


# ---- which configuration ------------------------------------------------------------------


def _as_given(
    chosen: Mapping[str, Any],
    given: Mapping[str, Any],
    facts: Facts,
    found: list[Choice],
    trials: _Trials,
) -> Configuration | None:
    """Return what would be chosen if nothing were given, where what is given is the same."""
    options = configurations(facts) if given else []
    same = [
        each
        for option in options
        for each in (option, with_second_member(option, facts))
        if each is not None and agrees(each, given)
    ]
    if not same or len(given.keys() & set(PARTS)) == len(PARTS):
        return next(iter(same), None)
    free = {**chosen, **dict.fromkeys(given, AUTO)}
    best = _best(free, options, facts, found, trials)
    return best if agrees(best, given) else None


def _best(
    chosen: Mapping[str, Any],
    options: Sequence[Configuration],
    facts: Facts,
    found: list[Choice],
    trials: _Trials,
) -> Configuration:
    """Return the configuration that serves best, by rule or by trying the likely ones."""
    change = _set("model=…, overlay=…, features=…")
    # What is tried where plans are too many to list are not graphs and flat actions; and a unit
    # that would have to name several actions comes after words.
    listed = facts.enumerable_length is not None and len(options) > 1
    usual = (0, 1) if not listed else (1, 2, 0) if facts.crowded else (1, 0)
    if len(options) == 1 or facts.count < _PILOT:
        best = options[2 if listed and facts.crowded else 0]
        why = _why(facts)
        if len(options) > 1:
            why += f"; {facts.count} demonstrations are too few to try others"
    else:
        scores = trials.scores(chosen, options, facts)
        best = options[_decide(scores, usual)]
        shown = ", ".join(f"{e.name} {s:.2f}" for e, s in zip(options, scores, strict=False))
        why = f"{_why(facts)}; tried on a part of the demonstrations: {shown}"
        second = with_second_member(best, facts) if max(scores) < _CLEAN else None
        if second is not None:
            best = second
            why += "; a second member, which reads from word to word, makes other mistakes"
    model, overlay = best.model, best.overlay
    found.append(Choice("model", repr(model), why, change))
    why = f"goes with the model; {_unit_why(overlay, facts)}"
    found.append(Choice("overlay", repr(overlay), why, _set("overlay=…")))
    return best


class _Trials:
    """What is tried, unless it was known; and what was asked for."""

    def __init__(self, tell: _Tell, known: Sequence[Tried]) -> None:
        self.tell = tell
        self.known = known
        self.used: list[Tried] = []

    def scores(
        self, chosen: Mapping[str, Any], options: Sequence[Configuration], facts: Facts
    ) -> Sequence[float]:
        """Return how each option does on a part of the demonstrations."""
        known = next((each for each in self.known if each.holds(options, facts.count)), None)
        if known is None:
            scores: list[float] = []
            for each in options:
                if scores and scores[0] >= 1 - _CLOSE:  # which none leads by more than chance
                    break
                self.tell(f"trying {each.name}")
                scores.append(pilot(briefly(_trainer(chosen, each, facts), facts), facts))
            known = Tried(facts.count, tuple(options), tuple(scores))
        self.used.append(known)
        return known.scores


def _unit_why(overlay: Overlay, facts: Facts) -> str:
    """Say why texts are read in these units."""
    if overlay.unit == facts.unit:
        return facts.ratio
    if overlay.nodes == "flat":
        return "each word lies on the action that it fits"
    return f"{facts.ratio}, too few for a {facts.unit} to name one action each"


def _decide(scores: Sequence[float], usual: Sequence[int] = (1, 0)) -> int:
    """Return the place of the best score; a lead that may be chance decides by what served.

    Where language is clean, that is the first, words over graphs; where it is not, the first of
    the usual ones: words over flat actions.

    >>> _decide([0.95, 0.97]), _decide([0.62, 0.60]), _decide([0.3, 0.4, 0.6])
    (0, 1, 2)
    """
    top = max(scores)
    order = range(len(scores)) if top >= _CLEAN else (*usual, *range(len(usual), len(scores)))
    return next(place for place in order if scores[place] >= top - _CLOSE)


def _why(facts: Facts) -> str:
    if facts.longest == 1 and facts.max_length in (None, 1):
        return "every demonstration has one action"
    length = facts.enumerable_length
    if length is None:
        length = facts.max_length or facts.covering(0.95)
        plans = facts.plans(length)
        many = f"about {plans:,.0f}" if plans < _MILLIONS else "millions of"
        return (
            f"from a start there are {many} plans of up to {length} actions, too many to learn "
            "from in reasonable time"
        )
    return f"from a start there are about {facts.plans(length):,.0f} plans of up to {length}"


def _trainer(chosen: Mapping[str, Any], each: Configuration, facts: Facts) -> Trainer:
    learning = chosen["learning"]
    if learning == AUTO:
        learning = learning_for(facts, each.model)
    search = each.search if chosen["search"] == AUTO else _merged(chosen["search"], each.search)
    return Trainer(**{**chosen, "model": each.model, "overlay": each.overlay,
                      "features": each.features, "search": search,
                      "learning": learning})  # fmt: skip


# ---- what else was left open --------------------------------------------------------------


def _fill(chosen: dict[str, Any], facts: Facts, found: list[Choice]) -> None:
    """Choose what is open beside what was given."""
    model: Model | str = chosen["model"]
    if chosen["overlay"] == AUTO:
        chosen["overlay"] = overlay_for(facts, None if isinstance(model, str) else model)
        why = _unit_why(chosen["overlay"], facts)
        found.append(Choice("overlay", repr(chosen["overlay"]), why, _set("overlay=…")))
    if chosen["features"] == AUTO:
        chosen["features"] = features_beside(facts, None if isinstance(model, str) else model)
        found += _feature_choices(chosen["features"], facts, model)
    if model == AUTO:
        chosen["model"] = model_for(facts, chosen["features"])
        found.append(Choice("model", repr(chosen["model"]), _why(facts), _set("model=…")))


def _set(what: str) -> str:
    """Return how some settings are changed and all others kept; then it is fitted again."""
    return f"follower.chosen().set_params({what})"


def _feature_choices(features: Features, facts: Facts, model: Model | str) -> list[Choice]:
    if facts.told:
        return _told_choices(features, facts)
    matched = {each.kind: each for each in facts.kinds}
    slots = ", ".join(
        f"{kind} ({len(matched[kind].matched)} of {len(matched[kind].values)} values)"
        for kind in features.slots
    )
    why = f"words of the texts spell their values: {slots}" if slots else (
        "no string label has values that words of the texts spell"
    )  # fmt: skip
    if features.slots and features.slots == facts.opaque:
        why = "words of the texts spell hardly any value; which stand for them is learnt"
    numbers = (
        "texts say numbers" if facts.numerals else
        "labels have numbers, which no text says" if facts.numbers else
        "no label of a demonstrated action is a number"
    )  # fmt: skip
    words = (
        f"{facts.count} demonstrations are too few to learn combinations of words"
        if features.words == ("word",)
        else "they served on every task tried"
    )
    found = [
        Choice("Features.words", repr(features.words), words, _set("features__words=…")),
        Choice("Features.slots", repr(features.slots), why, _set("features__slots=…")),
        Choice("Features.numbers", repr(features.numbers), numbers, _set("features__numbers=…")),
    ]  # fmt: skip
    if "value" in features.joins:
        why = f"texts often spell no value of {', '.join(facts.unsaid)}; other words may mean it"
        change = _set("features__joins=…")
        found.append(Choice("Features.joins", repr(features.joins), why, change))
    if features.learns_lexicon:
        why = f"only {facts.spoken:.0%} of the texts spell a value, so other words may mean them"
        if facts.opaque:
            why = "no word looks like a value, so that all words for them are to be learnt"
        # All members of an ensemble have one lexicon.
        alone = ""
        if not isinstance(model, str) and model.member_model is not model:
            alone = f"model={model.member_model!r}, "
        change = _set(f"{alone}features__lexicon='strings'")
        found.append(Choice("Features.lexicon", "'learn'", why, change))
    if features.reorder and facts.turning:
        why = f"texts name things in another order than they are done: {', '.join(facts.turning)}"
        found.append(Choice("Features.reorder", "True", why, _set("features__reorder=False")))
    return found


def _told_choices(features: Features, facts: Facts) -> list[Choice]:
    why = "sentences are single words with labels, which say what counts in them"
    numbers = "numbers measure" if facts.measures else "numbers count"
    found = [
        Choice("Features.words", repr(features.words), why, _set("features__words=…")),
        Choice("Features.slots", repr(features.slots), "these labels speak of their values",
               _set("features__slots=…")),
        Choice("Features.numbers", repr(features.numbers), numbers, _set("features__numbers=…")),
    ]  # fmt: skip
    if features.include:
        why = "with more features, plans had less in common with those demonstrated"
        found.append(
            Choice("Features.include", repr(features.include), why, _set("features__include=…"))
        )
    if features.exclude:
        why = "a value counts under its own name; what says it again has weights by chance"
        found.append(
            Choice("Features.exclude", repr(features.exclude), why, _set("features__exclude=''"))
        )
    return found


def _learning_choices(learning: Learning, model: Model, facts: Facts) -> list[Choice]:
    why = why_learning(facts, model)
    found = [Choice("Learning.l2", f"{learning.l2:g}", why, _set("learning__l2=…"))]
    if learning.composed:
        why = "many demonstrations begin where the one before in their group ended"
        change = _set("learning__composed=0.0")
        found.append(Choice("Learning.composed", f"{learning.composed:g}", why, change))
    return found


def _merged(given: Search, likely: Search) -> Search:
    """Return a search that was given, with the length that was left open."""
    if given.max_length is not None:
        return given
    return replace(given, max_length=max(likely.longest, given.min_length))


def _finish_search(chosen: dict[str, Any], facts: Facts, likely: Search | None) -> list[Choice]:
    given = chosen["search"]
    if given != AUTO and given.max_length is not None:
        return []
    if likely is None:
        likely = search_beside(facts, chosen["model"])
    chosen["search"] = likely if given == AUTO else _merged(given, likely)
    search: Search = chosen["search"]
    found = [Choice("Search.max_length", str(search.max_length), _length_why(search, facts),
                    _set("search__max_length=…"))]  # fmt: skip
    if given == AUTO and search.decode != Search().decode:
        why = "the environment says what counts of a final state"
        if search.decode == "transitions":
            why = "most of a text names nothing, so that whole plans are seldom right"
        found.append(Choice("Search.decode", repr(search.decode), why, _set("search__decode=…")))
    if given == AUTO and search.beam != Search().beam:
        why = "serves where texts are read unit by unit"
        found.append(Choice("Search.beam", str(search.beam), why, _set("search__beam=…")))
    return found


def _length_why(search: Search, facts: Facts) -> str:
    length = search.longest
    if length == facts.longest == 1:
        return "every demonstration has one action"
    if length == facts.longest:
        return f"the longest demonstration has {facts.longest} actions"
    if length > facts.longest:
        return f"a quarter more than the longest demonstration, which has {facts.longest} actions"
    within = sum(count for each, count in facts.lengths.items() if each <= length)
    return (
        f"{within / facts.count:.0%} of the demonstrations are that short; of up to "
        f"{facts.longest} actions, as the longest has, there are about "
        f"{facts.plans(facts.longest):,.0f} plans from a start instead of "
        f"{facts.plans(length):,.0f}, too many to learn from in reasonable time"
    )
