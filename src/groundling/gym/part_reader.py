"""Splitting of instructions into parts with one argument each."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files

from groundling.gym.verbs import Verb
from groundling.language.sentences import split_sentences

_WORD = re.compile(r"\d+[.,]\d+|,|[^\s,;:!?.]+")
_SAID = tomllib.loads((files("groundling.gym") / "parts.toml").read_text("utf-8"))
_NAMING, _PLACING, _PARTICLES, _FILLING, _FRONTED, _LATER = (
    frozenset(_SAID[name].split())
    for name in ("naming", "placing", "particles", "filling", "fronted", "later")
)


class PartReader:
    """Splitter of instructions into parts.

    Parts end at sentence ends, connectives, words that introduce roles, and commas between clauses.
    The name of a verb is never split. *Before you …, …* is reordered, and the word *after* is
    dropped from *After you …, …*, so that parts are in the order of execution.

    >>> reader = PartReader((Verb("go to"), Verb("bring", ("object", "to"))), ("and", "then"))
    >>> reader.read("Go to the lamp, bring the red, round mug to the oven. Go to the jar!")
    ('go to the lamp', 'bring the red round mug', 'to the oven', 'go to the jar')
    >>> reader.read("Before you go to the lamp, bring it to the oven")
    ('bring it', 'to the oven', 'before you go to the lamp')
    """

    def __init__(
        self, verbs: Sequence[Verb], connectives: Iterable[str], listing: Iterable[str] = ("and",)
    ) -> None:
        names = {tuple(verb.name.lower().split()) for verb in verbs}
        self._names = sorted(names, key=len, reverse=True)
        self._begins = {name[0] for name in names if name}
        self._roles: dict[tuple[str, ...], set[str]] = {}
        for verb in verbs:
            for words in verb.introductions[1:]:
                for each in words:
                    begun = self._roles.setdefault(tuple(each.lower().split()), set())
                    begun.add(verb.name.lower().split()[0])
        self._introducing = sorted(self._roles, key=len, reverse=True)
        connectives = tuple(connectives)
        self._commas = "," in connectives
        known = [tuple(each.lower().split()) for each in connectives if each != ","]
        self._connectives = sorted(known, key=len, reverse=True)
        self._words = {word for each in self._connectives for word in each}
        self._listing = set(listing)

    def read(self, text: str) -> tuple[str, ...]:
        """Return the parts of an instruction, in the order of execution."""
        parts: list[str] = []
        waiting: list[str] = []  # words without content are added to the next part
        for sentence in split_sentences(text):
            for piece in self._cut(_WORD.findall(sentence.lower())):
                if self._is_empty(piece):
                    waiting += piece
                elif piece:
                    parts.append(" ".join((*waiting, *piece)))
                    waiting = []
        if waiting and parts:
            parts[-1] += f" {' '.join(waiting)}"
        elif waiting:
            parts = [" ".join(waiting)]
        return tuple(parts)

    def turns(self, text: str) -> bool:
        """Return whether a text is one sentence whose first clause is carried out last."""
        sentences = split_sentences(text)
        words = _WORD.findall(sentences[0].lower()) if len(sentences) == 1 else []
        return bool(words) and words[0] in _LATER and self._cut(words)[0][0] != words[0]

    def _cut(self, words: list[str]) -> list[list[str]]:
        pieces: list[list[str]] = [[]]
        fronted = bool(words) and words[0] in _FRONTED
        turn = 0
        place = 0
        while place < len(words):
            rest = words[place + 1 :]
            if words[place] == ",":
                ends = fronted and not turn and self._ends_clause(pieces[-1], rest)
                if ends or self._commas or self._cuts(pieces[-1], rest):
                    pieces.append([])
                if ends:
                    turn = len(pieces) - 1
                place += 1
                continue
            size = _size(self._names, words, place)
            if not size:
                size = _size(self._connectives, words, place)
                begins = size > 0
                if not size:
                    size = _size(self._introducing, words, place)
                    role = tuple(words[place : place + size])
                    begins = size > 0 and self._names_before(
                        role, pieces[-1], words[place + size :]
                    )
                if begins and not self._is_empty(pieces[-1]):
                    pieces.append([])
            pieces[-1] += words[place : place + max(1, size)]
            place += max(1, size)
        if turn and words[0] in _LATER:
            pieces = pieces[turn:] + pieces[:turn]
        elif turn:
            pieces[0] = pieces[0][1:]
        return [each for each in pieces if each]

    def _cuts(self, piece: list[str], rest: list[str]) -> bool:
        """Return whether a comma separates clauses, or things in a list."""
        if not self._is_clause(piece):
            return False
        return self._is_clause(_up_to_comma(rest)) or self._is_listed(rest)

    def _ends_clause(self, piece: list[str], rest: list[str]) -> bool:
        """Return whether a comma ends the first clause of a sentence."""
        return len(piece) > 1 and (self._is_clause(_up_to_comma(rest)) or "," not in rest)

    def _is_clause(self, words: Sequence[str]) -> bool:
        """Return whether words begin with a verb or name a thing near the start."""
        left = list(words)
        while left and left[0] in self._words | _FILLING | _FRONTED:
            left.pop(0)
        if not left or left[0] in _NAMING:
            return False
        if left[0] in self._begins:
            return True
        near = left[1:4] if left[1:2] and left[1] in _PARTICLES else left[1:3]
        return left[0] not in _PLACING and any(each in _NAMING for each in near)

    def _is_listed(self, words: Sequence[str]) -> bool:
        """Return whether words are the rest of a list (*…, the cup and the bowl*)."""
        if not words or words[0] not in _NAMING:
            return False
        for place, word in enumerate(words[:-1]):
            if word in self._listing:
                return words[place + 1] in _NAMING
            if word == "," and words[place + 1] not in _NAMING | self._listing:
                return False
        return False

    def _names_before(self, role: tuple[str, ...], piece: list[str], rest: list[str]) -> bool:
        """Return whether words introduce a role instead of belonging to the verb.

        In *Drive over to the lamp*, for example, *to* belongs to the verb, because no thing comes
        before it.
        """
        if not rest or rest[0] == "," or _size(self._connectives, rest, 0):
            return False
        named = any(each in _NAMING or each in self._roles[role] for each in piece)
        return named or not any(each in _NAMING for each in _up_to_comma(rest)[:4])

    def _is_empty(self, piece: Sequence[str]) -> bool:
        return all(each in self._words or each in _FILLING for each in piece)


def _up_to_comma(words: list[str]) -> list[str]:
    return words[: words.index(",")] if "," in words else words


def _size(names: Iterable[tuple[str, ...]], words: list[str], place: int) -> int:
    """Return the number of words of the name at a position, or 0 if there is none."""
    for name in names:
        if name and tuple(words[place : place + len(name)]) == name:
            return len(name)
    return 0
