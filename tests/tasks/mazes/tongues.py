"""Three invented languages for generated mazes: our generator's sentences, word by word.

Every word becomes an invented one that resembles nothing. One language has no spaces, one is
written from right to left, one has its verbs last; none has articles.
"""

import hashlib
from dataclasses import replace

from groundling.language import Language

_LETTERS = {
    "unspaced": ("ㄅㄆㄇㄈㄉㄊㄋㄌㄍㄎㄏㄐㄑㄒ", "ㄚㄛㄜㄞㄟㄠㄡㄢㄣㄤㄧㄨㄩ"),
    "rightward": ("בגדזחטכלמנספצקרשת", "אהוי"),
    "verbs last": ("ptkmnslrvz", "aeiou"),
}
_ARTICLES = {"the", "a", "an"}
_VERBS = {
    "turn", "walk", "go", "move", "head", "take", "make", "follow", "face", "look", "do", "put",
    "stand", "point",
}  # fmt: skip
_JOINTS = {"and", "then"}
LANGUAGES = {
    "unspaced": Language("unspaced", spaced=False),
    "rightward": Language("rightward"),
    "verbs last": Language("verbs last"),
}


def say(word, tongue):
    """Return the invented word for an English one: two syllables by its digest."""
    first, second = _LETTERS[tongue]
    digest = hashlib.sha256(f"{tongue} {word}".encode()).digest()
    syllables = [
        first[digest[i] % len(first)] + second[digest[i + 1] % len(second)] for i in (0, 2)
    ]
    return "".join(syllables)


def translate(text, tongue):
    """Return an English sentence of the generator in an invented language."""
    words = [word for word in text.lower().split() if word not in _ARTICLES]
    if tongue == "verbs last":
        words = _verbs_last(words)
    said = [say(word, tongue) for word in words]
    return ("" if tongue == "unspaced" else " ").join(said)


def _verbs_last(words):
    ordered, clause = [], []
    for word in (*words, "and"):
        if word in _JOINTS:
            ordered += [w for w in clause if w not in _VERBS]
            ordered += [w for w in clause if w in _VERBS]
            ordered.append(word)
            clause = []
        else:
            clause.append(word)
    return ordered[:-1]


def translated(demonstrations, tongue):
    """Return demonstrations with their sentences in an invented language."""
    return [
        replace(each, instructions=tuple(translate(str(t), tongue) for t in each.instructions))
        for each in demonstrations
    ]
