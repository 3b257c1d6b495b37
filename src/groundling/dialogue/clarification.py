"""Clarification questions that distinguish between options, and replies to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from groundling.dialogue.command_fit import values_of
from groundling.dialogue.options import Option
from groundling.dialogue.phrases import listed, phrase, quoted
from groundling.features.spans import Span, SpanIndex
from groundling.language.languages import Language
from groundling.language.sentences import is_punctuation
from groundling.models.base import Request
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment

_NOUNS = ("NOUN", "PROPN")


def _sorts(world: CachedEnvironment, plan: Plan) -> list[tuple[str, ...]]:
    """Return the type of each action: the names of the labels at its root node."""
    graphs = (world.ground(s, a) for s, a in zip(plan.states, plan.actions, strict=False))
    return [tuple(sorted({label.name for label in g.labels(g.root)})) for g in graphs]


class Led(NamedTuple):
    """The name of a value, with the words that usually precede it (*in der Küche*)."""

    words: tuple[str, ...]
    name: str


class Question(NamedTuple):
    """A clarification question, with its options.

    `by_value` is true if the options are named by a distinguishing value (*the red one*), and false
    if they are named by their whole plans.
    """

    text: str = ""
    options: tuple[Option, ...] = ()
    by_value: bool = False


def ask_which(
    request: Request,
    options: Sequence[Option],
    language: Language,
    describe: Callable[[Plan], str],
    *,
    complete: bool = True,
    spoken: Callable[[str], float] = lambda kind: 1.0,
    unexplained: Iterable[str] = (),
    led: Callable[[str, str, str], Led] = lambda kind, value, article: Led((), value),
) -> Question:
    """Return a question that asks which of several options the user means.

    If a label has a different value for each option, the question lists these values together
    with the user's noun for the options. Otherwise the question lists the plans, as described by
    `describe`. If `complete` is false, the question also offers *none of these*.

    `spoken(label)` is the share of a label's values that occur in training texts; a label with a
    large share is preferred. Words in `unexplained` (case-folded) are not used as the noun.
    `led(label, value, article)` returns the words for a value, in languages where these words
    depend on the article of the noun.
    """
    world = request.world
    found = [values_of(world, each.plan) for each in options]
    sorts = [_sorts(world, each.plan) for each in options]
    kind, own = _distinct(found, spoken) if all(e == sorts[0] for e in sorts) else ("", None)
    thing = article = ""
    if own is not None and len(options) > 1:
        shared = [
            _labels_with(world, each.plan, value) for each, value in zip(options, own, strict=True)
        ]
        every = {value for each in found for values in each.values() for value in values}
        elsewhere = every - {value for _, value in set.intersection(*shared)}
        thing, article = _thing(
            request, set.intersection(*shared), own, language, unexplained, elsewhere
        )
        if not thing and all(len(pairs) > 1 for pairs in shared):
            own = None  # things of different kinds cannot be named by a value alone
    if own is None or len(options) == 1:
        texts = [describe(each.plan) for each in options]
        named = quoted(language, texts)
        form, thing = "mean", ""
    else:
        said = [led(kind, value, article) for value in own]
        if not all(each.words for each in said):
            said = [Led((), value) for value in own]
        texts = [_called(each, thing, article, language) for each in said]
        named = texts
        form = "which" if thing else "which one"
        if thing and f"which {article}" in language.phrases:
            form = f"which {article}"
    if not complete:
        named = [*named, phrase(language, "none")]
    text = phrase(language, form, thing=thing, options=listed(language, named, "or"))
    told = zip(options, texts, strict=True)
    named_options = tuple(each._replace(text=called) for each, called in told)
    return Question(text, named_options, form != "mean")


def _distinct(
    found: Sequence[Mapping[str, set[str]]], spoken: Callable[[str], float]
) -> tuple[str, list[str] | None]:
    """Return the label that best distinguishes the options, and its values.

    The values are None if no label distinguishes all options.
    """
    best: tuple[tuple[float, ...], str, list[str]] | None = None
    for kind in sorted(set.intersection(*(set(each) for each in found))):
        if spoken(kind) <= 0:  # values that never occur in training texts
            continue
        own = []
        for place, values in enumerate(found):
            others = set().union(*(e[kind] for n, e in enumerate(found) if n != place))
            own.append(sorted(values[kind] - others, key=lambda v: (len(v), v)))
        if all(own):
            chosen = [each[0] for each in own]
            strange = sum(not all(c.isalnum() or c in " '-" for c in v) for v in chosen)
            extra = sum(len(values[kind]) for values in found)
            key = (-spoken(kind), strange, extra, sum(len(v.split()) for v in chosen))
            if best is None or key < best[0]:
                best = (key, kind, chosen)
    return ("", None) if best is None else best[1:]


def _labels_with(world: CachedEnvironment, plan: Plan, value: str) -> set[tuple[str, str]]:
    """Return the labels of those nodes of a plan's graphs that have a given value."""
    found = set()
    for state, action in zip(plan.states, plan.actions, strict=False):
        for labels in world.ground(state, action).node_labels:
            pairs = {(each.name, each.value) for each in labels if isinstance(each.value, str)}
            if any(each == value for _, each in pairs):
                found |= pairs
    return found


def _thing(
    request: Request,
    shared: set[tuple[str, str]],
    own: Sequence[str],
    language: Language,
    unexplained: Iterable[str],
    elsewhere: Iterable[str],
) -> tuple[str, str]:
    """Return the user's noun for the options, and the word before it.

    The noun names a value that all options share. If there is none, another noun of the text is
    returned or, failing that, a shared value. The result is empty if only adjectives name shared
    values. Words for values in `own` and `elsewhere`, which the options do not share, are not used.
    """
    words = [word for each in request.text for word in each.tokens]
    tags = [tag for each in request.text for tag in each.tags]
    folded = [language.fold(word) for word in words]
    values: dict[str, set[str]] = {}
    for kind, value in shared:
        values.setdefault(kind, set()).add(value)
    spans = SpanIndex(values, language).find(folded, folded)
    places = sorted({place for span in spans for place in span.places})
    before = ["", *folded]
    if places and all(tags[place] == "ADJ" for place in places):
        return "", ""  # *red* is no noun for things of different kinds
    if places:
        return " ".join(words[place] for place in places), before[places[0]]
    taken, strange = SpanIndex({"": {*own, *elsewhere}}, language), set(unexplained)
    nouns = (
        (word, before[place])
        for place, (word, plain, tag) in enumerate(zip(words, folded, tags, strict=True))
        if place
        and tag in _NOUNS
        and plain not in language.plain_words
        and plain not in taken
        and plain not in strange
    )
    shortest = min((value for _, value in shared), default="", key=lambda v: (len(v), v))
    return next(nouns, (shortest, ""))


def _called(said: Led, thing: str, article: str, language: Language) -> str:
    """Return the name of an option in a question: *the red one*, or the value alone."""
    named, phrases = SpanIndex({"": {said.name}}, language), language.phrases
    if not thing or any(language.fold(word) in named for word in thing.split()):
        return " ".join((*said.words, said.name)) if said.words else phrase(
            language, "thing", value=said.name
        )  # fmt: skip
    if not said.words or f"one {article}" not in phrases:
        return phrase(language, "one", value=" ".join((*said.words, said.name)))
    # An article alone is that of the thing: *die rote*, but *die in der Küche*.
    alone = len(said.words) == 1 and f"one {said.words[0]}" in phrases
    value = said.name if alone else " ".join((*said.words, said.name))
    return phrase(language, f"one {article}", value=value)


# ---- replies --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """The meaning of a reply to a clarification question.

    If `kind` is `choose`, `options` are the chosen options; if it is `narrow`, they are the
    remaining ones. `none` rejects all options, `cancel` cancels the request, and `new` means that
    the text is not a reply.
    """

    meaning: Literal["choose", "narrow", "none", "cancel", "new"]
    options: tuple[Option, ...] = ()


def read_reply(
    words: Sequence[str],
    offered: Sequence[Option],
    others: Sequence[Option],
    world: CachedEnvironment,
    language: Language,
    request: Sequence[str] = (),
) -> Reply:
    """Interpret a reply as a choice among the offered options, or else other options.

    A reply selects options by a value in their graphs (*the kitchen one*), by position (*the
    second*), by exclusion (*not the red one*), or all at once (*both*). To choose an offered
    option, it may also repeat words of the `request` (*switch on the red lamp*). A reply with any
    other word is a new request.
    """
    folded = [language.fold(word) for word in words]
    meanings = _meanings(folded, language)
    known = [values_of(world, each.plan) for each in (*offered, *others)]
    values: dict[str, set[str]] = {}
    for each in known:
        for kind, found in each.items():
            values.setdefault(kind, set()).update(found)
    spans = [
        span
        for span in SpanIndex(values, language).find(folded, folded)
        if not any(meanings[place] for place in span.places)
    ]
    named = {place for span in spans for place in span.places}
    ordinals = {
        place: number
        for place, word in enumerate(folded)
        if not meanings[place] and place not in named
        and (number := language.ordinal(word) or language.numeral(word))
    }  # fmt: skip
    plain = {*language.stop_words, *language.function_words}
    unread = {
        word
        for place, word in enumerate(folded)
        if not meanings[place] and place not in named and place not in ordinals
        and not is_punctuation(word)
    }  # fmt: skip
    heard = {meaning for meaning in meanings if meaning not in ("", "filler")}
    if unread - plain:
        if not unread <= set(request):
            return _NEW
        others = ()
    if "cancel" in heard and not named:
        return Reply("cancel")
    places = _chosen_places(ordinals.values(), heard, len(offered))
    if places is not None and not named:
        if not places:  # out of range: ask again
            return Reply("narrow", tuple(offered))
        return Reply("choose", tuple(offered[place] for place in places))
    if "all" in heard and not named:
        return Reply("choose" if len(offered) > 1 else "narrow", tuple(offered))
    if "none" in heard and not named:
        return Reply("none")
    if named:
        groups = _groups(spans, meanings)
        for options, have in (
            (offered, known[: len(offered)]),
            (others, known[len(offered) :]),
        ):
            reply = _by_values(options, have, groups)
            if reply is not None:
                several = "all" in heard and len(reply.options) > 1
                return Reply("choose", reply.options) if several else reply
        return _NEW
    if "yes" in heard:
        return Reply("choose" if len(offered) == 1 else "narrow", tuple(offered))
    return Reply("none") if heard & {"no", "not"} else _NEW


_NEW = Reply("new")


def _meanings(words: Sequence[str], language: Language) -> list[str]:
    """Return the meaning of each word of a reply; an empty string if it has none.

    Long phrases take precedence over short ones.
    """
    found = [""] * len(words)
    phrases = [
        (tuple(said.split()), meaning)
        for meaning, texts in language.replies.items()
        for said in texts
    ]
    for said, meaning in sorted(phrases, key=lambda each: -len(each[0])):
        for start in range(len(words) - len(said) + 1):
            stretch = slice(start, start + len(said))
            if tuple(words[stretch]) == said and not any(found[stretch]):
                found[stretch] = [meaning] * len(said)
    return found


def _chosen_places(ordinals: Iterable[float], heard: Iterable[str], count: int) -> list[int] | None:
    """Return the indices of the options that ordinals name; None without ordinals.

    The list is empty if an ordinal is out of range.
    """
    places = [int(number) - 1 if number == int(number) else -1 for number in ordinals]
    places += [count - 1] * ("last" in heard) + [0] * ("first" in heard)
    if not places:
        return None
    return places if all(0 <= place < count for place in places) else []


class _Group(NamedTuple):
    """The values that a part of a reply names (*not the red one*).

    `excluded` is true if the reply rejects these values.
    """

    pairs: frozenset[tuple[str, str]]
    excluded: bool


def _groups(spans: Sequence[Span], meanings: Sequence[str]) -> list[_Group]:
    at: dict[tuple[int, ...], set[tuple[str, str]]] = {}
    for span in spans:
        at.setdefault(span.places, set()).add((span.kind, span.value))
    found, last = [], -1
    for places, pairs in sorted(at.items()):
        excluded = "not" in meanings[last + 1 : places[0]]
        last = places[-1]
        found.append(_Group(frozenset(pairs), excluded))
    return found


def _by_values(
    options: Sequence[Option],
    have: Sequence[Mapping[str, set[str]]],
    groups: Sequence[_Group],
) -> Reply | None:
    """Return the reply that selects options by their values; None if no option fits."""

    def fits(place: int, group: _Group) -> bool:
        return any(value in have[place].get(kind, ()) for kind, value in group.pairs)

    places = [
        place
        for place in range(len(options))
        if not any(group.excluded and fits(place, group) for group in groups)
    ]
    wanted = [group for group in groups if not group.excluded]
    if not wanted:
        kept = tuple(options[place] for place in places)
        return _narrowed(kept)
    every = [place for place in places if all(fits(place, group) for group in wanted)]
    if every:
        return _narrowed(tuple(options[place] for place in every))
    # No option has all values, so each span may name another option (*the red and the blue one*).
    single = [[place for place in places if fits(place, group)] for group in wanted]
    if all(len(each) == 1 for each in single):
        chosen = dict.fromkeys(each[0] for each in single)
        return Reply("choose", tuple(options[place] for place in chosen))
    return None


def _narrowed(kept: tuple[Option, ...]) -> Reply | None:
    if len(kept) == 1:
        return Reply("choose", kept)
    return Reply("narrow", kept) if kept else None
