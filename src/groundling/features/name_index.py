"""An index of names by spelling, for fast lookup of words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from groundling.language.languages import NEUTRAL, Language

Pairs = list[tuple[str, str]]
"""(kind, value) pairs."""
_MOST_FOUND = 5000  # maximum cached words
_STEM = 4  # minimum length of a shared prefix or suffix


class LayeredValues(Mapping[str, Collection[str]]):
    """Values of each kind in two layers: permanent ones, and those of one request.

    >>> values = LayeredValues({"name": {"lamp"}}, {"name": {"sofa"}})
    >>> sorted(values["name"]), len(values)
    (['lamp', 'sofa'], 1)
    """

    def __init__(
        self, base: Mapping[str, Collection[str]], added: Mapping[str, Collection[str]]
    ) -> None:
        self.base, self.added = base, added

    def __getitem__(self, kind: str) -> Collection[str]:
        known, new = self.base[kind], self.added.get(kind)
        return {*known, *new} if new else known

    def __contains__(self, kind: object) -> bool:
        return kind in self.base

    def __iter__(self) -> Iterator[str]:
        return iter(self.base)

    def __len__(self) -> int:
        return len(self.base)


class NameIndex:
    """An index from words to the values that they may match.

    A value is listed under each of its words, and under the prefix, suffix and first letter of each
    word. `matches_name` then decides which of the listed values match.

    >>> index = NameIndex({"item": ["old mill", "sofa"]}, str.startswith)
    >>> index.find("sofa", rare=False)
    ([('item', 'sofa')], [])
    """

    def __init__(
        self,
        values: Mapping[str, Iterable[str]],
        matches: Callable[..., bool],
        language: Language = NEUTRAL,
        base: NameIndex | None = None,
    ) -> None:
        self.matches, self.language, self.base = matches, language, base
        self._exact: dict[str, Pairs] = {}
        self._near: dict[str, Pairs] = {}
        self._found: dict[tuple[str, bool], tuple[Pairs, Pairs]] = {}
        near = self._near
        for kind, listed in values.items():
            for value in listed:
                pair = (kind, value)
                folded = language.fold(value)
                self._exact.setdefault(folded, []).append(pair)
                parts = folded.split()
                for part in [p for p in parts if len(p) > 2] if len(parts) > 1 else [folded]:
                    near.setdefault(part, []).append(pair)
                    if len(part) >= _STEM:
                        near.setdefault(f"{part[:_STEM]}…", []).append(pair)
                        near.setdefault(f"…{part[-_STEM:]}", []).append(pair)
                        near.setdefault(f"{part[0]}…", []).append(pair)

    def find(self, word: str, *, rare: bool) -> tuple[Pairs, Pairs]:
        """Return the values equal to a folded word, and those that match it approximately."""
        found = self._found.get((word, rare))
        if found is None:
            if len(self._found) >= _MOST_FOUND:
                self._found.clear()
            found = self._found[word, rare] = self._find(word, rare)
        if self.base is None:
            return found
        known = self.base.find(word, rare=rare)
        return sorted([*known[0], *found[0]]), sorted([*known[1], *found[1]])

    def _find(self, word: str, rare: bool) -> tuple[Pairs, Pairs]:
        stem = self.language.singular(word)
        keys = [word]
        if len(stem) >= _STEM:
            keys += [f"{stem[:_STEM]}…", f"…{stem[-_STEM:]}"]
        if rare:
            keys.append(f"{word[:1]}…")
        exact = self._exact.get(word, [])
        near = {pair for key in keys for pair in self._near.get(key, ())}.difference(exact)
        matches = self.matches
        return sorted(exact), sorted(
            pair for pair in near if matches(word, pair[1], rare=rare, language=self.language)
        )
