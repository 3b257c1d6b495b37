"""Splitting of a parsed sentence into commands and into units of alignment."""

from __future__ import annotations

from collections.abc import Set

from groundling.errors import SettingError, did_you_mean
from groundling.language.instruction import Instruction
from groundling.language.languages import NEUTRAL, Language

UNITS = ("sentence", "clause", "mention", "word")
"""The units that `split_units` accepts, from the largest to the smallest."""

_NOMINAL_TAGS = {"NOUN", "PROPN", "PRON"}
_NOMINAL_RELATIONS = {"nsubj", "obj", "iobj", "obl", "nmod", "vocative", "dobj", "pobj"}
_CLAUSE_RELATIONS = {"advcl", "parataxis", "ccomp", "csubj", "acl:relcl", "relcl"}
_COMMAND_RELATIONS = {"conj", "parataxis", "list"}
_SUBJECTS = {"nsubj", "csubj", "expl", "nsubjpass", "csubjpass"}
# Relations of dependents that only the head of a clause has; "verbal" ones, if tags are missing.
_CLAUSAL_CHILDREN = _SUBJECTS | {"cop", "aux"}
_VERBAL_CHILDREN = _CLAUSAL_CHILDREN | {"obj", "iobj", "obl", "advmod", "xcomp", "ccomp", "dobj"}
# A noun with one of these relations is part of the phrase around its head ("desk lamp").
_INSIDE_RELATIONS = {"compound", "flat", "fixed", "goeswith", "poss", "nmod:poss", "det", "punct"}
_PHRASE_RELATIONS = _INSIDE_RELATIONS | {"amod", "nummod", "case", "cc", "advmod", "quantmod"}


def split_commands(instruction: Instruction, language: Language = NEUTRAL) -> list[Instruction]:
    """Split a sentence into its coordinated commands, in text order.

    A command is the main verb, or a verb joined to it by ``conj``, ``parataxis`` or ``list``. A
    verb is a statement, not a command, if its subject is not in `Language.addressed` (*you*), or if
    it has an auxiliary in `Language.forecasts` (*will*, *can*). The conjunction between two
    commands and the punctuation at their edges are dropped. A sentence with one command is returned
    unchanged.

    >>> sentence = Instruction(
    ...     tokens=("turn", "left", "and", "walk", "to", "the", "sofa"),
    ...     heads=(-1, 0, 3, 0, 6, 6, 3),
    ...     relations=("root", "advmod", "cc", "conj", "case", "det", "obl"),
    ...     tags=("VERB", "ADV", "CCONJ", "VERB", "ADP", "DET", "NOUN"),
    ... )
    >>> [str(command) for command in split_commands(sentence)]
    ['turn left', 'walk to the sofa']
    """
    owner: dict[int, int] = {}
    for position in instruction.top_down():
        head = instruction.heads[position]
        if head == -1 or (owner[head] == head and _is_command(instruction, position, language)):
            owner[position] = position
        else:
            owner[position] = owner[head]
    words: dict[int, list[int]] = {}
    for position in range(len(instruction)):
        words.setdefault(owner[position], []).append(position)
    if len(words) == 1:
        return [instruction]
    spans = _spans(instruction)
    parts = [_cut(instruction, top, inside, spans) for top, inside in words.items()]
    parts.sort(key=lambda part: part[0])
    return [part for _, part in parts]


def split_units(instruction: Instruction, unit: str) -> tuple[tuple[int, ...], ...]:
    """Group the words of a sentence into units, in the order of their first words.

    Every word is in exactly one unit:

    - ``"sentence"``: all words;
    - ``"clause"``: the words of each clause;
    - ``"mention"``: each noun phrase, and the remaining words of each clause;
    - ``"word"``: each word.

    If the parse has no clauses or nouns, as in a chain, larger units are used.

    >>> sentence = Instruction(
    ...     tokens=("walk", "to", "the", "sofa", "and", "stop"),
    ...     heads=(-1, 3, 3, 0, 5, 0),
    ...     relations=("root", "case", "det", "obl", "cc", "conj"),
    ...     tags=("VERB", "ADP", "DET", "NOUN", "CCONJ", "VERB"),
    ... )
    >>> split_units(sentence, "clause")
    ((0, 1, 2, 3), (4, 5))
    >>> split_units(sentence, "mention")
    ((0,), (1, 2, 3), (4, 5))
    """
    if unit not in UNITS:
        raise SettingError(
            f"The unit must be one of {', '.join(UNITS)}; got {unit!r}." + did_you_mean(unit, UNITS)
        )
    size = len(instruction)
    if unit == "sentence":
        return (tuple(range(size)),)
    if unit == "word":
        return tuple((position,) for position in range(size))
    clause: dict[int, int] = {}
    mention: dict[int, int] = {}  # the head of the phrase that a word is part of
    for position in instruction.top_down():
        head = instruction.heads[position]
        if head == -1 or _is_clause(instruction, position):
            clause[position] = position
        else:
            clause[position] = clause[head]
        if unit == "mention":
            if _is_mention(instruction, position):
                mention[position] = position
            elif head in mention and _is_inside(instruction, position, mention[head]):
                mention[position] = mention[head]
    groups: dict[tuple[str, int], list[int]] = {}
    for position in range(size):
        if position in mention:
            key = ("mention", mention[position])
        else:
            key = ("clause", clause[position])
        groups.setdefault(key, []).append(position)
    return tuple(map(tuple, groups.values()))


def _children(instruction: Instruction, position: int) -> set[str]:
    relations = {instruction.relations[child] for child in instruction.children(position)}
    return relations | {name.split(":")[0] for name in relations}


def _is(instruction: Instruction, position: int, relations: Set[str]) -> bool:
    """Return whether a word has one of the given relations.

    Subtypes such as `nmod:poss` count as their main type (`nmod`).
    """
    relation = instruction.relations[position]
    return relation in relations or relation.split(":")[0] in relations


def _is_verb(instruction: Instruction, position: int) -> bool:
    tag = instruction.tags[position]
    if tag:
        return tag in {"VERB", "AUX"}
    return bool(_VERBAL_CHILDREN & _children(instruction, position))


def _is_command(instruction: Instruction, position: int, language: Language) -> bool:
    """Return whether a dependent of a command is a separate command."""
    if not _is(instruction, position, _COMMAND_RELATIONS) or not _is_verb(instruction, position):
        return False
    for child in instruction.children(position):
        word = language.fold(instruction.tokens[child])
        if (
            (_is(instruction, child, _SUBJECTS) and word not in language.addressed)
            or _is(instruction, child, {"mark", "cop"})
            or (_is(instruction, child, {"aux"}) and word in language.forecasts)
        ):
            return False
    return True


def _is_clause(instruction: Instruction, position: int) -> bool:
    if _is(instruction, position, {"conj", "list"}):
        clausal = _CLAUSAL_CHILDREN & _children(instruction, position)
        return _is_verb(instruction, position) or bool(clausal)
    return _is(instruction, position, _CLAUSE_RELATIONS)


def _is_mention(instruction: Instruction, position: int) -> bool:
    if _is(instruction, position, _INSIDE_RELATIONS):
        return False
    tag = instruction.tags[position]
    return tag in _NOMINAL_TAGS if tag else _is(instruction, position, _NOMINAL_RELATIONS)


def _is_inside(instruction: Instruction, position: int, noun: int) -> bool:
    """Return whether a word belongs to the phrase of the noun that it depends on."""
    if instruction.heads[position] != noun:
        return not _is_clause(instruction, position)
    if _is(instruction, position, {"advmod"}):
        # "is" and "not" of a predicate noun belong to its clause.
        return "cop" not in _children(instruction, noun)
    return _is(instruction, position, _PHRASE_RELATIONS)


def _cut(
    instruction: Instruction, top: int, words: list[int], spans: list[tuple[int, int]]
) -> tuple[int, Instruction]:
    """Return one command, with the position of its first word."""

    def loose(position: int) -> bool:
        names = {"punct", "cc"} if instruction.heads[position] == top else {"punct"}
        return position != top and _is(instruction, position, names)

    first, last = 0, len(words)
    while loose(words[first]):
        first += 1
    while loose(words[last - 1]):
        last -= 1
    kept = words[first:last]
    place = {position: number for number, position in enumerate(kept)}
    # Only leaves at the edges were dropped, so the heads of the others are still there.
    heads = [-1 if i == top else place.get(instruction.heads[i], place[top]) for i in kept]
    command = Instruction(
        tokens=tuple(instruction.tokens[i] for i in kept),
        heads=tuple(heads),
        relations=tuple("root" if i == top else instruction.relations[i] for i in kept),
        tags=tuple(instruction.tags[i] for i in kept),
        text=_written(instruction, kept, spans),
    )
    return kept[0], command


def _spans(instruction: Instruction) -> list[tuple[int, int]]:
    """Return the character span of each word, or an empty list if one is not found."""
    spans, end = [], 0
    for token in instruction.tokens:
        start = instruction.text.find(token, end)
        if start == -1:
            return []
        end = start + len(token)
        spans.append((start, end))
    return spans


def _written(instruction: Instruction, positions: list[int], spans: list[tuple[int, int]]) -> str:
    """Return the original text of the given words, or "" if they are not consecutive."""
    if not spans or positions[-1] - positions[0] != len(positions) - 1:
        return ""
    return instruction.text[spans[positions[0]][0] : spans[positions[-1]][1]]
