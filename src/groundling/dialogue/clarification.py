"""Clarification questions that distinguish between options, and replies to them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from groundling.dialogue.options import Option
from groundling.dialogue.phrases import listed, phrase, quoted
from groundling.features.spans import Span, SpanIndex
from groundling.language.languages import Language
from groundling.language.sentences import is_punctuation
from groundling.models.base import Request
from groundling.plan import Plan
from groundling.world.cached_environment import CachedEnvironment

_NOUNS = ("NOUN", "PROPN")
_MOST_STEPS = 2000  # maximum steps to find out whether a command is fulfilled


def values_of(world: CachedEnvironment, plan: Plan) -> dict[str, set[str]]:
    """Return the string values in a plan's graphs, keyed by label name."""
    found: dict[str, set[str]] = {}
    for state, action in zip(plan.states, plan.actions, strict=False):
        for labels in world.ground(state, action).node_labels:
            for label in labels:
                if isinstance(label.value, str):
                    found.setdefault(label.name, set()).add(label.value)
    return found


def _sorts(world: CachedEnvironment, plan: Plan) -> list[tuple[str, ...]]:
    """Return the type of each action, that is, the label names of its root node."""
    graphs = (world.ground(s, a) for s, a in zip(plan.states, plan.actions, strict=False))
    return [tuple(sorted({label.name for label in g.labels(g.root)})) for g in graphs]


def content_words(request: Request, language: Language) -> list[str]:
    """Return the content words of a text, folded by case."""
    plain = {*language.stop_words, *language.function_words}
    words = (language.fold(word) for each in request.text for word in each.tokens)
    return [word for word in words if word not in plain and not is_punctuation(word)]


def names_something(request: Request, plan: Plan, language: Language) -> bool:
    """Return whether a text names a value that occurs in a plan's graphs."""
    words = [language.fold(word) for each in request.text for word in each.tokens]
    return bool(SpanIndex(values_of(request.world, plan), language).find(words, words))


def applicable(
    request: Request,
    options: Sequence[Option],
    language: Language,
    verbs: Mapping[str, frozenset[str]],
) -> tuple[Option, ...]:
    """Return the options whose actions have the type that the verb of a text names.

    `verbs` maps words to the root labels of their actions (see `Speaker.verbs`). A word that spells
    a root label also names it. Only the options that lack the fewest of the named labels are
    returned, or none if every option lacks all of them. An option without a thing that the text
    names is left out if another option has that thing. An option that changes nothing is left out
    if another option of its type changes something: *switch off the lamp* means a lamp that is on.
    """
    world = request.world
    folded = {language.fold(word) for each in request.text for word in each.tokens}
    types = [_types(world, each.plan) for each in options]
    wanted = {name for word in folded for name in verbs.get(word, ())}
    wanted |= {name for names in types for name in _spelt(names, folded, language)}
    lacking = [len(wanted - names) for names in types]
    least = min(lacking, default=0)
    if wanted and least == len(wanted):
        return ()
    kept = [place for place in range(len(options)) if lacking[place] == least]
    plans = [each.plan for each in options]
    named = list(name_all(request, plans, language))
    kept = [place for place in kept if named[place]] or kept
    same = [world.outcome(each.plan.start) == each.outcome for each in options]
    changing = {types[place] for place in kept if not same[place]}
    return tuple(
        options[place] for place in kept if not same[place] or types[place] not in changing
    )


def fit_verbs(world: CachedEnvironment, plan: Plan, verbs: Iterable[frozenset[str]]) -> bool:
    """Return whether a plan has an action for each verb of a text, and no other actions."""
    wanted = frozenset().union(*verbs)
    done = [_types(world, part) for part in plan.parts or (plan,)]
    return wanted <= frozenset().union(*done) and all(not wanted or own & wanted for own in done)


def is_fulfilled(
    request: Request,
    language: Language,
    verbs: Iterable[frozenset[str]],
    others: Sequence[Plan],
    actions: Iterable[Any] | None = None,
    strange: Iterable[str] = (),
) -> bool:
    """Return whether a command is fulfilled: its action would lead back to this state.

    A command is fulfilled if some other action can be undone by an action that has the type and all
    values that the text names. For *switch off the lamp*, the other action is to switch the lamp
    on. A type is named by `verbs`, or by a word that spells it; `strange` words count only if they
    spell it. If `actions` are given, only these may lead back, whatever their type.
    """
    world, now, wanted = request.world, request.start, frozenset().union(*verbs)
    folded = {language.fold(word) for each in request.text for word in each.tokens}
    here, steps = world.outcome(now), 0
    for first in world.actions(now):
        there = world.step(now, first)
        if world.outcome(there) == here:
            continue
        for back in world.actions(there):
            steps += 1
            if steps > _MOST_STEPS:
                return False
            if actions is not None and back not in actions:
                continue
            if world.outcome(world.step(there, back)) == here:
                plan = Plan((back,), (there, now), 0.0, 1.0)
                types = _types(world, plan)
                spelt = _spelt(types, folded, language)
                words = {word for name in spelt for word in language.fold(name).split()}
                named = wanted <= types and bool(wanted or spelt) and words.issuperset(strange)
                if actions is not None or (named and names_all(request, plan, others, language)):
                    return True
    return False


def names_all(request: Request, plan: Plan, others: Iterable[Plan], language: Language) -> bool:
    """Return whether a plan has all values that a text names.

    Only values in the graphs of this plan or of `others` are searched for in the text.
    """
    return next(iter(name_all(request, (plan, *others), language)))


def name_all(request: Request, plans: Sequence[Plan], language: Language) -> Iterator[bool]:
    """Yield, for each plan, whether it has all values that a text names (see `names_all`)."""
    spans = _names(request, plans, language)
    for plan in plans:
        own = values_of(request.world, plan)
        places = {span.places for span in spans if span.value in own.get(span.kind, ())}
        yield all(span.places in places for span in spans)


def named_words(request: Request, plans: Iterable[Plan], language: Language) -> set[str]:
    """Return the words of a text that name a value of some plan, folded by case."""
    words = [language.fold(word) for each in request.text for word in each.tokens]
    return {words[place] for span in _names(request, plans, language) for place in span.places}


def _names(request: Request, plans: Iterable[Plan], language: Language) -> list[Span]:
    values: dict[str, set[str]] = {}
    for each in plans:
        for kind, found in values_of(request.world, each).items():
            values.setdefault(kind, set()).update(found)
    words = [language.fold(word) for each in request.text for word in each.tokens]
    return list(SpanIndex(values, language).find(words, words))


def _types(world: CachedEnvironment, plan: Plan) -> frozenset[str]:
    """Return the string values and label names at the root nodes of a plan's actions."""
    graphs = (world.ground(s, a) for s, a in zip(plan.states, plan.actions, strict=False))
    labels = {label for graph in graphs for label in graph.labels(graph.root)}
    return frozenset(each.value if isinstance(each.value, str) else each.name for each in labels)


def _spelt(names: Iterable[str], words: Collection[str], language: Language) -> set[str]:
    """Return the names whose words all occur among the given case-folded words."""
    return {name for name in names if {*language.fold(name).split()} <= {*words}}


def fit_equally(
    request: Request,
    chosen: Option,
    options: Iterable[Option],
    language: Language,
    is_plain: Callable[[str], bool],
) -> tuple[Option, ...]:
    """Return the chosen option, and all others that the text describes equally well.

    Such an option makes the same change to another thing, and has every value of the chosen option
    that the text names: *the lamp* fits all lamps. If the chosen option changes nothing and there
    are others, it is left out. Only the chosen option is returned if the text has an indefinite
    article (*a lamp*), or a word that may distinguish the things (a word for which `is_plain` is
    false).
    """
    world = request.world
    words = [language.fold(word) for each in request.text for word in each.tokens]
    own = values_of(world, chosen.plan)
    spans = SpanIndex(own, language).find(words, words)
    named = {(span.kind, span.value) for span in spans}
    places = {place for span in spans for place in span.places}
    plain = {*language.stop_words, *language.function_words}
    others = (word for place, word in enumerate(words) if place not in places)
    if (
        not named
        or {*words} & {*language.indefinites}
        or not all(word in plain or is_punctuation(word) or is_plain(word) for word in others)
    ):
        return (chosen,)
    shape = _shape(world, chosen.plan)
    now = world.outcome(chosen.plan.start)
    equal = [
        each
        for each in options
        if each.outcome not in (chosen.outcome, now)
        and _shape(world, each.plan) == shape
        and all(v in values_of(world, each.plan).get(kind, ()) for kind, v in named)
    ]
    return tuple(equal) if equal and chosen.outcome == now else (chosen, *equal)


def _shape(world: CachedEnvironment, plan: Plan) -> list[tuple[Any, ...]]:
    """Return the nodes and labels of a plan's graphs, without their string values."""
    found = []
    for state, action in zip(plan.states, plan.actions, strict=False):
        graph = world.ground(state, action)
        for node, labels in zip(graph.parts, graph.node_labels, strict=True):
            plain = ((e.name, "" if isinstance(e.value, str) else e.value) for e in labels)
            found.append((node, *sorted(plain, key=str)))
    return found


class Question(NamedTuple):
    """A clarification question, and its options with their names.

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
) -> Question:
    """Return a question about which of several options the user means.

    If the options have different values of some label, the question lists these values with the
    user's noun for the options. Otherwise it lists the plans, as described by `describe`. Unless
    `complete`, it also offers *none of these*. Labels whose values are frequent in training texts,
    according to `spoken`, are preferred. Words in `unexplained` are not used.
    """
    world = request.world
    found = [values_of(world, each.plan) for each in options]
    sorts = [_sorts(world, each.plan) for each in options]
    own = _distinct(found, spoken) if all(each == sorts[0] for each in sorts) else None
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
        texts = [_called(value, thing, language) for value in own]
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
) -> list[str] | None:
    """Return a different value for each option, all of the same label, or None."""
    best: tuple[tuple[float, ...], list[str]] | None = None
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
                best = (key, chosen)
    return None if best is None else best[1]


def _labels_with(world: CachedEnvironment, plan: Plan, value: str) -> set[tuple[str, str]]:
    """Return all labels in a plan's graphs that have a given value."""
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
    """Return the user's word for what all options share, and the word before that word.

    If there is no such word, a shared value is returned, or an empty string if the word is an
    adjective. Words that name a value that the options do not share (`elsewhere`) are not used.
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
        if tag in _NOUNS and plain not in taken and word not in strange
    )
    shortest = min((value for _, value in shared), default="", key=lambda v: (len(v), v))
    return next(nouns, (shortest, ""))


def _called(value: str, thing: str, language: Language) -> str:
    """Return the name of an option with a value: *the red one*, or the thing itself."""
    named = SpanIndex({"": {value}}, language)
    itself = not thing or any(language.fold(word) in named for word in thing.split())
    return phrase(language, "thing" if itself else "one", value=value)


# ---- replies --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """The meaning of a reply to a clarification question.

    `options` are the chosen options for `choose`, and the remaining ones for `narrow`. `none`
    rejects all options, `cancel` cancels the request, and `new` means that the text is not a reply.
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
    """Interpret a reply as a choice among the offered options, or among the others.

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
                return reply
        return _NEW
    if "yes" in heard:
        return Reply("choose" if len(offered) == 1 else "narrow", tuple(offered))
    return Reply("none") if heard & {"no", "not"} else _NEW


_NEW = Reply("new")


def _meanings(words: Sequence[str], language: Language) -> list[str]:
    """Return the meanings of a reply's words; long phrases take precedence over short ones."""
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
    """The possible values that a span of a reply names, or excludes (*not the red one*)."""

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
    """Return the options with the named values; None if the reply names no values."""

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
