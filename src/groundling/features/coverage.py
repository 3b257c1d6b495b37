"""Coverage: the unexplained words of a text, and their effect on confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from scipy.special import bdtrc

from groundling.features.reader import Reader
from groundling.features.spans import SpanIndex, nearest_word
from groundling.language.instruction import Instruction
from groundling.language.literals import Literal, read_literals

_CONTENT = frozenset({"", "NOUN", "PROPN", "VERB", "ADJ", "ADV"})  # tags of content words
_SHORT = 4  # up to this length, one replaced letter gives another word (oven, open)
_STRANGE = 0.05  # prior probability that a request is out of scope


def unexplained_words(
    reader: Reader,
    text: Sequence[Instruction],
    names: Callable[[], Iterable[str]],
    used: Callable[[Literal], bool] = lambda literal: True,
) -> tuple[str, ...]:
    """Return the new words that the plan does not explain, in text order.

    A word is new if it is not in the training texts, the lexicon or the function words, and not one
    edit away from a known word. `names` returns the values and labels of the plan; it is called
    only if there are new words. `used` returns whether the plan uses a literal, such as a number in
    the text. The words of unused literals are unexplained.

    >>> from groundling.language import ENGLISH, ChainParser
    >>> reader = Reader(ChainParser(language=ENGLISH), counts={"open": 3, "window": 2, "in": 4})
    >>> text = reader.read("Open the widow in the attics, feed the cat")
    >>> unexplained_words(reader, text, lambda: ["attic", "window"])
    ('feed', 'cat')
    >>> text = reader.read("Open the window in ten minutes")
    >>> unexplained_words(reader, text, lambda: ["window"], lambda literal: False)
    ('ten', 'minutes')
    """
    language = reader.language
    words = [word for instruction in text for word in instruction.tokens]
    tags = [tag for instruction in text for tag in instruction.tags]
    folded = [language.fold(word) for word in words]
    literals = read_literals(words, language)
    # Colours are names unless they fill an open value; other literals need no name.
    spelt = {place for each in literals if each.type != "colour" for place in each.places}
    new = [
        place
        for place, word in enumerate(folded)
        if word not in reader.counts
        and any(map(str.isalpha, word))
        and word not in language.plain_words
        and (tags[place] in _CONTENT or word in language.negations)
        and place not in spelt
        and language.numeral(word) is None
        and language.ordinal(word) is None
        and not reader.lexicon.look_up(word, {}, language=language)
        and not _misspelt(word, reader.nearest(word))
        and not reader.synonym(word)
    ]
    for each in literals:
        if not language.plain_words.issuperset(folded[p] for p in each.places) and not used(each):
            new += each.places
    if not new:
        return ()
    index = SpanIndex({"": set(names())}, language)
    known = dict.fromkeys(index.words, 2)
    named = {
        place
        for span in index.find(folded, reader.counts)
        for place in span.places
        if folded[place] in index or _misspelt(folded[place], nearest_word(folded[place], known))
    }
    return tuple(words[place] for place in sorted(new) if place not in named)


def _misspelt(word: str, near: str) -> bool:
    """Return whether `word` probably misspells `near`, a known word one edit away.

    Short words that differ in one letter are taken as different words, such as *oven* and *open*.
    """
    return bool(near) and (
        len(near) != len(word) or len(word) > _SHORT or sorted(near) == sorted(word)
    )


def trust(counts: Mapping[str, int], size: int, unknown: int) -> float:
    """Return the probability that a text with unknown words is about this world.

    The probability that a word is new is estimated by the Good–Turing method: it is the share of
    training words that occur once. This gives the probability that a text of `size` words about
    this world has at least `unknown` new words (a binomial tail). For a text about anything else,
    the probability of so many new words is assumed to be 1.

    >>> counts = {"open": 40, "close": 35, "the": 75, "window": 30, "door": 44, "now": 1}
    >>> [round(trust(counts, 3, unknown), 2) for unknown in range(3)]
    [1.0, 0.2, 0.0]
    """
    if not unknown or not counts:
        return 1.0
    once = sum(count == 1 for count in counts.values())
    new = min(1.0, max(once, 0.5) / sum(counts.values()))
    chance = float(bdtrc(unknown - 1, size, new))  # binomial tail
    return (1 - _STRANGE) * chance / ((1 - _STRANGE) * chance + _STRANGE)
